package dev.millrace.benchmarks.peers;

import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jobrunr.server.BackgroundJobServerConfiguration;

/** The contenders in Java with their settings, by the names that their processes are given. */
final class Engines {
    /** For all that poll and let one choose; the shortest that pg-boss takes. */
    static final Duration POLL = Duration.ofMillis(500);

    /** The shortest that JobRunr takes with a database. */
    static final Duration JOBRUNR_POLL = Duration.ofSeconds(5);

    private Engines() {}

    static Engine named(String name) {
        return switch (name) {
            case "floor-1" -> new FloorEngine(1);
            case "floor-50" -> new FloorEngine(50);
            case "floor-woken" -> new WokenFloorEngine();
            case "millrace" -> new MillraceEngine(false, UnaryOperator.identity());
            case "millrace-tuned" ->
                new MillraceEngine(true, worker -> worker.prefetch(300).outcomeBuffer(200, Duration.ofMillis(20)));
            case "millrace-poll" -> new MillraceEngine(false, worker -> worker.pollInterval(POLL));
            case "millrace-wake-ups" -> new MillraceEngine(true, UnaryOperator.identity());
            case "db-scheduler" -> new DbSchedulerEngine(UnaryOperator.identity());
            case "db-scheduler-tuned" ->
                new DbSchedulerEngine(scheduler -> scheduler
                        .pollUsingLockAndFetch(4.0, 20.0)
                        .enableImmediateExecution()
                        .pollingInterval(POLL));
            case "jobrunr" -> new JobRunrEngine(UnaryOperator.identity());
            case "jobrunr-tuned" -> new JobRunrEngine(Engines::pollOften);
            case "quartz" -> new QuartzEngine(Map.of());
            case "quartz-tuned" ->
                new QuartzEngine(Map.of(
                        "org.quartz.scheduler.batchTriggerAcquisitionMaxCount", "16",
                        "org.quartz.jobStore.acquireTriggersWithinLock", "true",
                        "org.quartz.scheduler.idleWaitTime", "1000",
                        "org.quartz.jobStore.misfireThreshold", "3600000"));
            default -> throw new IllegalArgumentException("There is no contender " + name);
        };
    }

    private static BackgroundJobServerConfiguration pollOften(BackgroundJobServerConfiguration server) {
        return server.andPollInterval(JOBRUNR_POLL);
    }
}
