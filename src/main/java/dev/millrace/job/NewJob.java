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

    /** A local job of this kind with defaults for all else. */
    public static NewJob of(String id, String kind, JsonText parameters) {
        return of(id, JobSpec.of(kind, parameters));
    }

    /** A job with this spec and defaults for all else. */
    public static NewJob of(String id, JobSpec spec) {
        return new NewJob(id, spec, Priority.NORMAL, JobPolicies.DEFAULT, JobAudit.NONE, Duration.ZERO);
    }

    public NewJob withId(String value) {
        return new NewJob(value, spec, priority, policies, audit, delay);
    }

    public NewJob withSpec(JobSpec value) {
        return new NewJob(id, value, priority, policies, audit, delay);
    }

    public NewJob withPriority(Priority value) {
        return new NewJob(id, spec, value, policies, audit, delay);
    }

    public NewJob withPolicies(JobPolicies value) {
        return new NewJob(id, spec, priority, value, audit, delay);
    }

    public NewJob withAudit(JobAudit value) {
        return new NewJob(id, spec, priority, policies, value, delay);
    }

    public NewJob withDelay(Duration value) {
        return new NewJob(id, spec, priority, policies, audit, value);
    }
}
