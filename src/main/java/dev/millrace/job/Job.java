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
        this.more = more == null ? Map.of() : Map.copyOf(more);
    }

    /** A queued job that was created at the given time, with default priority and policies. */
    public static Job of(String id, JobSpec spec, Instant createdAt) {
        return new Job(id, spec, null, null, null, null, createdAt, null, null);
    }

    /** Where the job stands; short for {@code state().status()}. */
    @JsonIgnore
    public JobStatus status() {
        return state.status();
    }

    /** The version that a compare-and-set must match; short for {@code state().version()}. */
    @JsonIgnore
    public long version() {
        return state.version();
    }

    /** Which handler runs the job; short for {@code spec().kind()}. */
    @JsonIgnore
    public String kind() {
        return spec.kind();
    }

    /** Whether someone asked for the job to be cancelled. */
    @JsonIgnore
    public boolean cancellationRequested() {
        return audit.cancellation() != null;
    }

    public Job withSpec(JobSpec value) {
        return new Job(id, value, priority, policies, audit, outcome, createdAt, state, more);
    }

    public Job withPriority(Priority value) {
        return new Job(id, spec, value, policies, audit, outcome, createdAt, state, more);
    }

    public Job withPolicies(JobPolicies value) {
        return new Job(id, spec, priority, value, audit, outcome, createdAt, state, more);
    }

    public Job withAudit(JobAudit value) {
        return new Job(id, spec, priority, policies, value, outcome, createdAt, state, more);
    }

    public Job withOutcome(JobOutcome value) {
        return new Job(id, spec, priority, policies, audit, value, createdAt, state, more);
    }

    public Job withState(AttemptState value) {
        return new Job(id, spec, priority, policies, audit, outcome, createdAt, value, more);
    }

    /** With another status; short for a state with it. */
    public Job withStatus(JobStatus value) {
        return withState(state.withStatus(value));
    }

    /** With the values that are true in columns of their own. */
    public Job at(Instant created, AttemptState value) {
        return new Job(id, spec, priority, policies, audit, outcome, created, value, more);
    }
}
