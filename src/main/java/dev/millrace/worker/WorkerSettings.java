package dev.millrace.worker;

import dev.millrace.internal.ProcessName;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.JobSpec;
import dev.millrace.store.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * How a worker works. Immutable; {@link #defaults} and the {@code with} methods make one. What is not allowed is refused,
 * never corrected.
 */
public final class WorkerSettings {
    /** The most jobs that one worker may run at a time. */
    public static final int MAX_CONCURRENCY = 10_000;

    /** The most jobs that one worker may claim before it has a slot for them. */
    public static final int MAX_PREFETCH = 10_000;

    private static final Duration CENTURY = Duration.ofDays(36_525);

    /** The values while they are put together; never seen by others. */
    private static final class Draft {
        private String name = ProcessName.random();
        private List<String> runtimeProfiles = List.of(JobSpec.DEFAULT_PROFILE);
        private List<String> queues = List.of(JobSpec.DEFAULT_QUEUE);
        private int concurrency = 10;
        private Map<String, Integer> kindConcurrency = Map.of();
        private int prefetch = 0;
        private int claimLimit = ClaimRequest.MAX_LIMIT;
        private OutcomeBuffer outcomeBuffer = OutcomeBuffer.NONE;
        private Duration pollInterval = Duration.ofSeconds(5);
        private Duration drainTimeout = Duration.ofSeconds(30);
        private Duration beatRetryDelay = Duration.ofSeconds(2);
        private Duration resultRetention = Duration.ofDays(7);

        Draft() {}

        Draft(WorkerSettings settings) {
            this.name = settings.name;
            this.runtimeProfiles = settings.runtimeProfiles;
            this.queues = settings.queues;
            this.concurrency = settings.concurrency;
            this.kindConcurrency = settings.kindConcurrency;
            this.prefetch = settings.prefetch;
            this.claimLimit = settings.claimLimit;
            this.outcomeBuffer = settings.outcomeBuffer;
            this.pollInterval = settings.pollInterval;
            this.drainTimeout = settings.drainTimeout;
            this.beatRetryDelay = settings.beatRetryDelay;
            this.resultRetention = settings.resultRetention;
        }
    }

    private final String name;
    private final List<String> runtimeProfiles;
    private final List<String> queues;
    private final int concurrency;
    private final Map<String, Integer> kindConcurrency;
    private final int prefetch;
    private final int claimLimit;
    private final OutcomeBuffer outcomeBuffer;
    private final Duration pollInterval;
    private final Duration drainTimeout;
    private final Duration beatRetryDelay;
    private final Duration resultRetention;

    private WorkerSettings(Draft draft) {
        SettingChecks.text("name", draft.name, 512, 2_048);
        SettingChecks.number("concurrency", draft.concurrency, MAX_CONCURRENCY);
        SettingChecks.number("claimLimit", draft.claimLimit, ClaimRequest.MAX_LIMIT);
        SettingChecks.upTo("prefetch", draft.prefetch, MAX_PREFETCH);
        SettingChecks.given("outcomeBuffer", draft.outcomeBuffer);
        SettingChecks.duration("pollInterval", draft.pollInterval, Duration.ofMillis(10), Duration.ofHours(1));
        SettingChecks.duration("drainTimeout", draft.drainTimeout, Duration.ZERO, Duration.ofHours(24));
        SettingChecks.duration(
                "beatRetryDelay", draft.beatRetryDelay, Duration.ofMillis(10), HeartbeatPolicy.DEFAULT.interval());
        SettingChecks.duration("resultRetention", draft.resultRetention, Duration.ZERO, CENTURY);
        this.name = draft.name;
        this.runtimeProfiles = SettingChecks.names("runtimeProfiles", draft.runtimeProfiles);
        this.queues = SettingChecks.names("queues", draft.queues);
        this.concurrency = draft.concurrency;
        this.kindConcurrency = SettingChecks.kinds("kindConcurrency", draft.kindConcurrency, MAX_CONCURRENCY);
        this.prefetch = draft.prefetch;
        this.claimLimit = draft.claimLimit;
        this.outcomeBuffer = draft.outcomeBuffer;
        this.pollInterval = draft.pollInterval;
        this.drainTimeout = draft.drainTimeout;
        this.beatRetryDelay = draft.beatRetryDelay;
        this.resultRetention = draft.resultRetention;
    }

    /** {@return the defaults, with a new name made of the host, the process id and a random number} */
    public static WorkerSettings defaults() {
        return new WorkerSettings(new Draft());
    }

    private WorkerSettings with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return new WorkerSettings(draft);
    }

    /**
     * {@return who claims: 1 to 512 characters} Shown with each job; jobs are fenced by tokens, not by this name.
     */
    public String name() {
        return name;
    }

    /**
     * {@return whose jobs the worker takes: each 1 to 64 characters, no two alike; {@code managed} by default}
     */
    public List<String> runtimeProfiles() {
        return runtimeProfiles;
    }

    /**
     * {@return the queues that it takes them from: each 1 to 64 characters, no two alike; {@code default} by default}
     */
    public List<String> queues() {
        return queues;
    }

    /**
     * {@return how many jobs it runs at a time: 1 to {@value #MAX_CONCURRENCY}, 10 by default}
     */
    public int concurrency() {
        return concurrency;
    }

    /**
     * {@return how many jobs of a kind it runs at a time, for kinds that are to have fewer than all slots: each from
     * 1 to the concurrency; none by default} Each such kind is claimed by a statement of its own.
     */
    public Map<String, Integer> kindConcurrency() {
        return kindConcurrency;
    }

    /**
     * {@return how many more jobs it claims than it has slots for, so that the next ones are there when a slot is
     * free: 0, the default, to {@value #MAX_PREFETCH}} They wait in this process, are beaten for, and don't run
     * elsewhere meanwhile. A kind with a concurrency of its own never has more than that, those that wait included.
     */
    public int prefetch() {
        return prefetch;
    }

    /**
     * {@return how many jobs it claims at most in one call: 1 to 1,000, the default} It never claims more than it has
     * free slots for, prefetch included.
     */
    public int claimLimit() {
        return claimLimit;
    }

    /**
     * {@return how many outcomes it gathers before it writes them; each is written by itself by default}
     */
    public OutcomeBuffer outcomeBuffer() {
        return outcomeBuffer;
    }

    /**
     * {@return how long it waits at most before it asks again when there was nothing to do: 10 ms to 1 h, 5 s by
     * default} Shortened by up to a quarter at random, so that workers that started together don't ask together.
     */
    public Duration pollInterval() {
        return pollInterval;
    }

    /**
     * {@return how long handlers may go on when the worker is closed: 0 to 24 h, 30 s by default}
     */
    public Duration drainTimeout() {
        return drainTimeout;
    }

    /**
     * {@return how soon a failed beat is repeated, if the job's heartbeat interval is not shorter: 10 ms to 30 s, 2 s
     * by default}
     */
    public Duration beatRetryDelay() {
        return beatRetryDelay;
    }

    /**
     * {@return for how long what a handler leaves by {@link JobContext#resultPackage} can be read: 0 to a century, 7
     * days by default}
     */
    public Duration resultRetention() {
        return resultRetention;
    }

    /**
     * {@return these settings with another name}
     *
     * @param value see {@link #name()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withName(String value) {
        return with(draft -> draft.name = value);
    }

    /**
     * {@return these settings with other profiles}
     *
     * @param value see {@link #runtimeProfiles()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withRuntimeProfiles(List<String> value) {
        return with(draft -> draft.runtimeProfiles = value);
    }

    /**
     * {@return these settings with other queues}
     *
     * @param value see {@link #queues()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withQueues(List<String> value) {
        return with(draft -> draft.queues = value);
    }

    /**
     * {@return these settings with another concurrency}
     *
     * @param value see {@link #concurrency()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withConcurrency(int value) {
        return with(draft -> draft.concurrency = value);
    }

    /**
     * {@return these settings with another concurrency of some kinds}
     *
     * @param value see {@link #kindConcurrency()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withKindConcurrency(Map<String, Integer> value) {
        return with(draft -> draft.kindConcurrency = value);
    }

    /**
     * {@return these settings with another number of jobs that are claimed ahead}
     *
     * @param value see {@link #prefetch()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withPrefetch(int value) {
        return with(draft -> draft.prefetch = value);
    }

    /**
     * {@return these settings with another limit of claims}
     *
     * @param value see {@link #claimLimit()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withClaimLimit(int value) {
        return with(draft -> draft.claimLimit = value);
    }

    /**
     * {@return these settings with another buffer of outcomes}
     *
     * @param value see {@link #outcomeBuffer()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withOutcomeBuffer(OutcomeBuffer value) {
        return with(draft -> draft.outcomeBuffer = value);
    }

    /**
     * {@return these settings with another interval of polls}
     *
     * @param value see {@link #pollInterval()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withPollInterval(Duration value) {
        return with(draft -> draft.pollInterval = value);
    }

    /**
     * {@return these settings with another time to drain}
     *
     * @param value see {@link #drainTimeout()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withDrainTimeout(Duration value) {
        return with(draft -> draft.drainTimeout = value);
    }

    /**
     * {@return these settings with another delay before a beat is repeated}
     *
     * @param value see {@link #beatRetryDelay()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withBeatRetryDelay(Duration value) {
        return with(draft -> draft.beatRetryDelay = value);
    }

    /**
     * {@return these settings with another retention of results}
     *
     * @param value see {@link #resultRetention()}
     * @throws InvalidWorkerException if it is not allowed
     */
    public WorkerSettings withResultRetention(Duration value) {
        return with(draft -> draft.resultRetention = value);
    }

    /** How many jobs of this kind may run at a time. */
    int concurrency(String kind) {
        return kindConcurrency.getOrDefault(kind, concurrency);
    }

    /** Each profile with each queue: where the worker claims from. */
    List<ClaimRequest.Source> sources() {
        return runtimeProfiles.stream()
                .flatMap(profile -> queues.stream().map(queue -> new ClaimRequest.Source(profile, queue)))
                .toList();
    }

    @Override
    public String toString() {
        return "WorkerSettings["
                + "name=" + name
                + ", runtimeProfiles=" + runtimeProfiles
                + ", queues=" + queues
                + ", concurrency=" + concurrency
                + ", kindConcurrency=" + kindConcurrency
                + ", prefetch=" + prefetch
                + ", claimLimit=" + claimLimit
                + ", outcomeBuffer=" + outcomeBuffer
                + ", pollInterval=" + pollInterval
                + ", drainTimeout=" + drainTimeout
                + ", beatRetryDelay=" + beatRetryDelay
                + ", resultRetention=" + resultRetention
                + "]";
    }
}
