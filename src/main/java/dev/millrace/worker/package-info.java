/**
 * Runs jobs: claims them from a {@link dev.millrace.store.WorkSource}, keeps them alive with beats, calls their
 * handlers, and writes what came of them. {@link dev.millrace.worker.Worker} is the way in.
 *
 * <p>Each worker has one thread that claims ({@code ClaimLoop}), one that beats ({@code Heartbeats}), one for the
 * deadlines ({@code Deadlines}), threads for the handlers, and a few for outcomes that can't be written on a handler's
 * own thread. They share {@code RunningAttempts}, which is keyed by claim token. A job goes through {@code Intake}
 * (registered, watched, given a thread), {@code AttemptRunner} (promoted unless it was claimed just now, decoded, handled) and {@code Outcomes} (its
 * end written, as often as it takes). {@code RunningAttempt} is where they meet; read it first.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.worker;

import org.jspecify.annotations.NullMarked;
