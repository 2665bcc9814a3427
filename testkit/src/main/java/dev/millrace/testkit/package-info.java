/**
 * For the tests of applications that use Millrace. {@link dev.millrace.testkit.TestKit} is the way in: it runs jobs on the
 * test's own thread, lets time pass without waiting, and says what was submitted, all of it also within a transaction that
 * is rolled back. It needs no test framework; {@link dev.millrace.testkit.MillraceTest} is for JUnit Jupiter.
 *
 * <p>{@code TestKit} holds what is configured and no more. Where something happens is a {@code Scope}: on the pool, or in
 * the test's transaction. What it happens to is a {@code Selection}. {@code DueJobs} finds the next job in the order of
 * the queue, {@code JobRuns} claims it and has the library's own {@link dev.millrace.worker.InlineWorker} run it, and {@code
 * HandlerSavepoint} keeps a test's transaction usable if the handler breaks it. {@code Aging} lets time pass; {@link
 * dev.millrace.testkit.SubmittedJobs} are the assertions, and {@code JobTexts} their words.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.testkit;

import org.jspecify.annotations.NullMarked;
