/**
 * The main demonstration: one job for each file of a directory, drained by two worker processes, one of which is killed
 * while it holds claims. {@code DigestDemo} is the program; {@code WorkerProcess} is what it starts twice.
 */
@NullMarked
package dev.millrace.examples.digests;

import org.jspecify.annotations.NullMarked;
