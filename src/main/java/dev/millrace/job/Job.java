package dev.millrace.job;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A job as it was read. Its annotations say how it is kept as JSON in the column {@code record}: all of it but the
 * attempt state and the time of creation, which are true in columns of their own.
 *
 * @param id the job's id: 1 to 512 characters, at most 2,048 bytes, compared bytewise
 * @param spec what is to be done
 * @param priority how urgent it is
 * @param policies the rules under which it runs
 * @param audit who asked for it
 * @param outcome what came of it so far
 * @param createdAt when it was created
 * @param state where it stands
 * @param more members of the job that this release does not know; kept as they are
 */
public record Job(
        @JsonProperty("operationId") String id,
        JobSpec spec,
        Priority priority,
        JobPolicies policies,
        JobAudit audit,
        JobOutcome outcome,
        @JsonIgnore Instant createdAt,
        @JsonIgnore AttemptState state,
        @JsonAnyGetter @JsonAnySetter Map<String, JsonText> more) {
    private static final Set<String> KNOWN =
            Set.of("operationId", "spec", "priority", "policies", "audit", "outcome", "createdAt", "state");

    /**
     * Checks the values, and takes the defaults for those that are null.
     *
     * @param id see {@link #id()}
     * @param spec see {@link #spec()}
     * @param priority see {@link #priority()}
     * @param policies see {@link #policies()}
     * @param audit see {@link #audit()}
     * @param outcome see {@link #outcome()}
     * @param createdAt see {@link #createdAt()}
     * @param state see {@link #state()}
     * @param more see {@link #more()}
     * @throws InvalidJobException if a value is not allowed
     */
    public Job(
            String id,
            JobSpec spec,
            @Nullable Priority priority,
            @Nullable JobPolicies policies,
            @Nullable JobAudit audit,
            @Nullable JobOutcome outcome,
            @Nullable Instant createdAt,
            @Nullable AttemptState state,
            @Nullable Map<String, JsonText> more) {
        this.id = Checks.id("id", id);
        this.spec = Checks.given("spec", spec);
        this.priority = priority == null ? Priority.NORMAL : priority;
        this.policies = policies == null ? JobPolicies.DEFAULT : policies;
        this.audit = audit == null ? JobAudit.NONE : audit;
        this.outcome = outcome == null ? JobOutcome.NONE : outcome;
        this.createdAt = createdAt == null ? Instant.EPOCH : Checks.instant("createdAt", createdAt);
        this.state = state == null ? AttemptState.queued(this.createdAt) : state;
        this.more = Checks.more("job", more, KNOWN);
    }

    /**
     * {@return a queued job that was created at the given time, with default priority and policies}
     *
     * @param id 1 to 512 characters
     * @param spec what is to be done
     * @param createdAt when it was created
     */
    public static Job of(String id, JobSpec spec, Instant createdAt) {
        return new Job(id, spec, null, null, null, null, createdAt, null, null);
    }

    /** {@return where the job stands; short for {@code state().status()}} */
    @JsonIgnore
    public JobStatus status() {
        return state.status();
    }

    /** {@return the version that a compare-and-set must match; short for {@code state().version()}} */
    @JsonIgnore
    public long version() {
        return state.version();
    }

    /** {@return which handler runs the job; short for {@code spec().kind()}} */
    @JsonIgnore
    public String kind() {
        return spec.kind();
    }

    /** {@return whether someone asked for the job to be cancelled} */
    @JsonIgnore
    public boolean cancellationRequested() {
        return audit.cancellation() != null;
    }

    /**
     * {@return this job with another spec}
     *
     * @param value see {@link #spec()}
     */
    public Job withSpec(JobSpec value) {
        return new Job(id, value, priority, policies, audit, outcome, createdAt, state, more);
    }

    /**
     * {@return this job with another priority}
     *
     * @param value see {@link #priority()}
     */
    public Job withPriority(Priority value) {
        return new Job(id, spec, value, policies, audit, outcome, createdAt, state, more);
    }

    /**
     * {@return this job with other policies}
     *
     * @param value see {@link #policies()}
     */
    public Job withPolicies(JobPolicies value) {
        return new Job(id, spec, priority, value, audit, outcome, createdAt, state, more);
    }

    /**
     * {@return this job with another audit}
     *
     * @param value see {@link #audit()}
     */
    public Job withAudit(JobAudit value) {
        return new Job(id, spec, priority, policies, value, outcome, createdAt, state, more);
    }

    /**
     * {@return this job with another outcome}
     *
     * @param value see {@link #outcome()}
     */
    public Job withOutcome(JobOutcome value) {
        return new Job(id, spec, priority, policies, audit, value, createdAt, state, more);
    }

    /**
     * {@return this job with another state}
     *
     * @param value see {@link #state()}
     */
    public Job withState(AttemptState value) {
        return new Job(id, spec, priority, policies, audit, outcome, createdAt, value, more);
    }

    /**
     * {@return this job with another status; short for a state with it}
     *
     * @param value the other status
     */
    public Job withStatus(JobStatus value) {
        return withState(state.withStatus(value));
    }

    /**
     * {@return this job with the values that are true in columns of their own}
     *
     * @param created when the job was created
     * @param value where it stands
     */
    public Job at(Instant created, AttemptState value) {
        return new Job(id, spec, priority, policies, audit, outcome, created, value, more);
    }
}
