package dev.millrace.worker;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.JobSpec;
import dev.millrace.store.ClaimRequest;
import java.time.Duration;
import java.util.List;

/**
 * How a worker works. Immutable; {@link #defaults} and the {@code with} methods make one. What is not allowed is refused,
 * never corrected.
 *
 * @param name who claims: 1 to 512 characters. Shown with each job; jobs are fenced by tokens, not by this name
 * @param runtimeProfiles whose jobs the worker takes: each 1 to 64 characters, no two alike; {@code managed} by default
 * @param queues the queues that it takes them from: each 1 to 64 characters, no two alike; {@code default} by default
 * @param concurrency how many jobs it runs at a time: 1 to {@value #MAX_CONCURRENCY}, 10 by default
 * @param claimLimit how many jobs it claims at most in one call: 1 to 1,000, the default. It never claims more than it
 *     has free slots for
 * @param pollInterval how long it waits at most before it asks again when there was nothing to do: 10 ms to 1 h, 5 s by
 *     default. Shortened by up to a quarter at random, so that workers that started together don't ask together
 * @param drainTimeout how long handlers may go on when the worker is closed: 0 to 24 h, 30 s by default
 * @param beatRetryDelay how soon a failed beat is repeated, if the job's heartbeat interval is not shorter: 10 ms to 30
 *     s, 2 s by default
 */
public record WorkerSettings(
        String name,
        List<String> runtimeProfiles,
        List<String> queues,
        int concurrency,
        int claimLimit,
        Duration pollInterval,
        Duration drainTimeout,
        Duration beatRetryDelay) {
    /** The most jobs that one worker may run at a time. */
    public static final int MAX_CONCURRENCY = 10_000;

    /**
     * Checks the values.
     *
     * @param name see {@link #name()}
     * @param runtimeProfiles see {@link #runtimeProfiles()}
     * @param queues see {@link #queues()}
     * @param concurrency see {@link #concurrency()}
     * @param claimLimit see {@link #claimLimit()}
     * @param pollInterval see {@link #pollInterval()}
     * @param drainTimeout see {@link #drainTimeout()}
     * @param beatRetryDelay see {@link #beatRetryDelay()}
     * @throws InvalidWorkerException if a value is not allowed
     */
    public WorkerSettings {
        SettingChecks.text("name", name, 512, 2_048);
        runtimeProfiles = SettingChecks.names("runtimeProfiles", runtimeProfiles);
        queues = SettingChecks.names("queues", queues);
        SettingChecks.number("concurrency", concurrency, MAX_CONCURRENCY);
        SettingChecks.number("claimLimit", claimLimit, ClaimRequest.MAX_LIMIT);
        SettingChecks.duration("pollInterval", pollInterval, Duration.ofMillis(10), Duration.ofHours(1));
        SettingChecks.duration("drainTimeout", drainTimeout, Duration.ZERO, Duration.ofHours(24));
        SettingChecks.duration(
                "beatRetryDelay", beatRetryDelay, Duration.ofMillis(10), HeartbeatPolicy.DEFAULT.interval());
    }

    /** {@return the defaults, with a new name made of the host, the process id and a random number} */
    public static WorkerSettings defaults() {
        return new WorkerSettings(
                WorkerName.random(),
                List.of(JobSpec.DEFAULT_PROFILE),
                List.of(JobSpec.DEFAULT_QUEUE),
                10,
                ClaimRequest.MAX_LIMIT,
                Duration.ofSeconds(5),
                Duration.ofSeconds(30),
                Duration.ofSeconds(2));
    }

    /**
     * {@return these settings with another name}
     *
     * @param value see {@link #name()}
     */
    public WorkerSettings withName(String value) {
        return new WorkerSettings(
                value, runtimeProfiles, queues, concurrency, claimLimit, pollInterval, drainTimeout, beatRetryDelay);
    }

    /**
     * {@return these settings with other profiles}
     *
     * @param value see {@link #runtimeProfiles()}
     */
    public WorkerSettings withRuntimeProfiles(List<String> value) {
        return new WorkerSettings(
                name, value, queues, concurrency, claimLimit, pollInterval, drainTimeout, beatRetryDelay);
    }

    /**
     * {@return these settings with other queues}
     *
     * @param value see {@link #queues()}
     */
    public WorkerSettings withQueues(List<String> value) {
        return new WorkerSettings(
                name, runtimeProfiles, value, concurrency, claimLimit, pollInterval, drainTimeout, beatRetryDelay);
    }

    /**
     * {@return these settings with another concurrency}
     *
     * @param value see {@link #concurrency()}
     */
    public WorkerSettings withConcurrency(int value) {
        return new WorkerSettings(
                name, runtimeProfiles, queues, value, claimLimit, pollInterval, drainTimeout, beatRetryDelay);
    }

    /**
     * {@return these settings with another limit of claims}
     *
     * @param value see {@link #claimLimit()}
     */
    public WorkerSettings withClaimLimit(int value) {
        return new WorkerSettings(
                name, runtimeProfiles, queues, concurrency, value, pollInterval, drainTimeout, beatRetryDelay);
    }

    /**
     * {@return these settings with another interval of polls}
     *
     * @param value see {@link #pollInterval()}
     */
    public WorkerSettings withPollInterval(Duration value) {
        return new WorkerSettings(
                name, runtimeProfiles, queues, concurrency, claimLimit, value, drainTimeout, beatRetryDelay);
    }

    /**
     * {@return these settings with another time to drain}
     *
     * @param value see {@link #drainTimeout()}
     */
    public WorkerSettings withDrainTimeout(Duration value) {
        return new WorkerSettings(
                name, runtimeProfiles, queues, concurrency, claimLimit, pollInterval, value, beatRetryDelay);
    }

    /**
     * {@return these settings with another delay before a beat is repeated}
     *
     * @param value see {@link #beatRetryDelay()}
     */
    public WorkerSettings withBeatRetryDelay(Duration value) {
        return new WorkerSettings(
                name, runtimeProfiles, queues, concurrency, claimLimit, pollInterval, drainTimeout, value);
    }

    /** Each profile with each queue: where the worker claims from. */
    List<ClaimRequest.Source> sources() {
        return runtimeProfiles.stream()
                .flatMap(profile -> queues.stream().map(queue -> new ClaimRequest.Source(profile, queue)))
                .toList();
    }
}
