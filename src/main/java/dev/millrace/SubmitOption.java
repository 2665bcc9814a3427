package dev.millrace;

import dev.millrace.job.Checks;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.JobReferences;
import dev.millrace.job.NewJob;
import dev.millrace.job.RetryPolicy;
import dev.millrace.job.TraceContext;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * What can be said when a job is submitted, beside its type and payload. Immutable; meant for static import. Of two
 * options that say the same thing the later one counts.
 */
public final class SubmitOption {
    private final UnaryOperator<NewJob> change;

    private SubmitOption(UnaryOperator<NewJob> change) {
        this.change = change;
    }

    NewJob apply(NewJob job) {
        return change.apply(job);
    }

    /**
     * The job's id, 1 to 512 characters; a random one that sorts by time if not given. Submitting the same job under the
     * same id again is no error and no second job.
     *
     * @param id the id
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption id(String id) {
        return new SubmitOption(job -> job.withId(id));
    }

    /**
     * How urgent it is; normal if not given.
     *
     * @param priority the priority
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption priority(Priority priority) {
        return new SubmitOption(job -> job.withPriority(priority));
    }

    /**
     * How long after its submission the job may first be claimed; zero or longer, at most a century.
     *
     * @param delay the delay
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption delay(Duration delay) {
        return new SubmitOption(job -> job.withDelay(delay));
    }

    /**
     * The queue it waits in, 1 to 64 characters; {@code default} if not given.
     *
     * @param queue the name of the queue
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption queue(String queue) {
        Checks.given("queue", queue);
        return new SubmitOption(job -> job.withSpec(job.spec().withQueue(queue)));
    }

    /**
     * Which workers may run it, 1 to 64 characters; {@code managed} if not given.
     *
     * @param profile the name of the profile that workers have to serve
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption runtimeProfile(String profile) {
        Checks.given("runtimeProfile", profile);
        return new SubmitOption(job -> job.withSpec(job.spec().withRuntimeProfile(profile)));
    }

    /**
     * The remote backend that runs it, 1 to 64 characters, instead of a worker.
     *
     * @param backend the name of the backend
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption backend(String backend) {
        Checks.given("backend", backend);
        return new SubmitOption(job -> job.withSpec(job.spec().withBackend(backend)));
    }

    /**
     * What the job belongs to.
     *
     * @param references the references
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption references(JobReferences references) {
        return new SubmitOption(job -> job.withSpec(job.spec().withReferences(references)));
    }

    /**
     * Whether and when it runs again after a failure; three attempts if not given.
     *
     * @param policy the rules
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption retry(RetryPolicy policy) {
        Checks.given("retry", policy);
        return new SubmitOption(job -> job.withPolicies(job.policies().withRetry(policy)));
    }

    /**
     * How its attempts show that they live; every 30 s, dead after 90 s if not given.
     *
     * @param policy the rules
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption heartbeat(HeartbeatPolicy policy) {
        Checks.given("heartbeat", policy);
        return new SubmitOption(job -> job.withPolicies(job.policies().withHeartbeat(policy)));
    }

    /**
     * How long one attempt may take; an hour if not given. An attempt that takes longer fails the job, without a retry.
     *
     * @param duration the longest time, from 1 ms
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption maxDuration(Duration duration) {
        Checks.given("maxDuration", duration);
        return new SubmitOption(job -> job.withPolicies(job.policies().withMaxDuration(duration)));
    }

    /**
     * How long after its end the job is kept at least; seven days if not given.
     *
     * @param duration the shortest time, zero or longer
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption retention(Duration duration) {
        Checks.given("retention", duration);
        return new SubmitOption(job -> job.withPolicies(job.policies().withRetention(duration)));
    }

    /**
     * Whose job it is, 1 to 128 characters.
     *
     * @param tenant the tenant
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption tenant(String tenant) {
        return new SubmitOption(job -> job.withAudit(job.audit().withTenantId(tenant)));
    }

    /**
     * Who asks for it, 1 to 512 characters.
     *
     * @param who the name or id of a person or service
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption requestedBy(String who) {
        return new SubmitOption(job -> job.withAudit(job.audit().withRequestedBy(who)));
    }

    /**
     * What ties it to other work, 1 to 512 characters.
     *
     * @param id an id that the other work has as well
     * @return this, as an option of {@code submit}
     */
    public static SubmitOption correlationId(String id) {
        return new SubmitOption(job -> job.withAudit(job.audit().withCorrelationId(id)));
    }

    /**
     * The span that it belongs to, instead of the caller's current one; see {@link Millrace#withTracing}.
     *
     * @param traceparent in the syntax of W3C Trace Context
     * @return this, as an option of {@code submit}
     * @throws dev.millrace.job.InvalidJobException if it is of another form
     */
    public static SubmitOption traceContext(String traceparent) {
        return traceContext(TraceContext.of(traceparent));
    }

    /**
     * The span that it belongs to, instead of the caller's current one; see {@link Millrace#withTracing}.
     *
     * @param traceparent in the syntax of W3C Trace Context
     * @param tracestate in the syntax of W3C Trace Context
     * @return this, as an option of {@code submit}
     * @throws dev.millrace.job.InvalidJobException if one is of another form
     */
    public static SubmitOption traceContext(String traceparent, String tracestate) {
        return traceContext(new TraceContext(traceparent, tracestate));
    }

    private static SubmitOption traceContext(TraceContext context) {
        return new SubmitOption(job -> job.withAudit(job.audit().withTrace(context)));
    }
}
