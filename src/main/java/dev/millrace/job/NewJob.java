package dev.millrace.job;

import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;

/**
 * A job that is to be submitted. When it was created is for the database to say.
 *
 * @param id the job's id: 1 to 512 characters, at most 2,048 bytes. Submitting it again is no error and no second job
 * @param spec what is to be done
 * @param priority how urgent it is
 * @param policies the rules under which it runs
 * @param audit who asks for it
 * @param delay how long after its submission it may first be claimed; zero or longer
 */
public record NewJob(String id, JobSpec spec, Priority priority, JobPolicies policies, JobAudit audit, Duration delay) {
    /**
     * Checks the values.
     *
     * @param id see {@link #id()}
     * @param spec see {@link #spec()}
     * @param priority see {@link #priority()}
     * @param policies see {@link #policies()}
     * @param audit see {@link #audit()}
     * @param delay see {@link #delay()}
     * @throws InvalidJobException if a value is not allowed
     */
    public NewJob {
        Checks.id("id", id);
        Checks.given("spec", spec);
        Checks.given("priority", priority);
        Checks.given("policies", policies);
        Checks.given("audit", audit);
        delay = Checks.delay("delay", delay);
        if (!spec.local() && !delay.isZero()) {
            throw new InvalidJobException(
                    "delay",
                    delay + " for backend \"" + spec.backend() + "\"",
                    "zero for jobs of a remote backend, which has its own schedule");
        }
        if (audit.cancellation() != null) {
            throw new InvalidJobException(
                    "audit.cancellation", "a cancellation request", "none for a job that is to be submitted");
        }
    }

    /**
     * {@return a local job of this kind with defaults for all else}
     *
     * @param id 1 to 512 characters
     * @param kind 1 to 64 characters
     * @param parameters a JSON object, the handler's input
     */
    public static NewJob of(String id, String kind, JsonText parameters) {
        return of(id, JobSpec.of(kind, parameters));
    }

    /**
     * {@return a job with this spec and defaults for all else}
     *
     * @param id 1 to 512 characters
     * @param spec what is to be done
     */
    public static NewJob of(String id, JobSpec spec) {
        return new NewJob(id, spec, Priority.NORMAL, JobPolicies.DEFAULT, JobAudit.NONE, Duration.ZERO);
    }

    /**
     * {@return this job with another id}
     *
     * @param value see {@link #id()}
     */
    public NewJob withId(String value) {
        return new NewJob(value, spec, priority, policies, audit, delay);
    }

    /**
     * {@return this job with another spec}
     *
     * @param value see {@link #spec()}
     */
    public NewJob withSpec(JobSpec value) {
        return new NewJob(id, value, priority, policies, audit, delay);
    }

    /**
     * {@return this job with another priority}
     *
     * @param value see {@link #priority()}
     */
    public NewJob withPriority(Priority value) {
        return new NewJob(id, spec, value, policies, audit, delay);
    }

    /**
     * {@return this job with other policies}
     *
     * @param value see {@link #policies()}
     */
    public NewJob withPolicies(JobPolicies value) {
        return new NewJob(id, spec, priority, value, audit, delay);
    }

    /**
     * {@return this job with another audit}
     *
     * @param value see {@link #audit()}
     */
    public NewJob withAudit(JobAudit value) {
        return new NewJob(id, spec, priority, policies, value, delay);
    }

    /**
     * {@return this job with another delay}
     *
     * @param value see {@link #delay()}
     */
    public NewJob withDelay(Duration value) {
        return new NewJob(id, spec, priority, policies, audit, value);
    }
}
