package dev.millrace.worker;

import dev.millrace.job.HeartbeatPolicy;
import java.time.Duration;

/**
 * Lengths of time that users don't set.
 *
 * @param patience how long after its interrupt a handler is said to ignore it
 * @param grace how long a shutdown waits for outcomes to be written after its drain timeout
 * @param unwind how long it then waits for handlers that were interrupted to return
 * @param recovery how long a worker keeps asking for the jobs of a claim whose answer was lost, from the first time that
 *     it was told of none. The statement may still have been running when the connection broke; this is far longer than
 *     a claim takes, and by then the default heartbeat timeout has passed, after which the sweep recovers the job
 * @param unasked for how long after a claim its handler may begin without that the database is told, and for how long the
 *     handler then runs before it is told; with zero it is always told first
 */
record Timings(Duration patience, Duration grace, Duration unwind, Duration recovery, Duration unasked) {
    static final Timings DEFAULT = new Timings(
            Duration.ofSeconds(5),
            Duration.ofSeconds(3),
            Duration.ofSeconds(1),
            HeartbeatPolicy.DEFAULT.timeout(),
            Duration.ofSeconds(1));
}
