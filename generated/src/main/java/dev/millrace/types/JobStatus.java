package dev.millrace.types;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/** Where a job stands. A final status is left only by a retry by hand. */
public enum JobStatus {
    /** Waits to be claimed, or for the time of its next attempt. */
    QUEUED("Queued"),
    /** Claimed; it is not shown yet that its handler runs, see {@link #RUNNING}. */
    PROVISIONING("Provisioning"),
    /** Its handler runs. A worker shows that when it has run for a second, or reports progress. */
    RUNNING("Running"),
    /** Final: the handler returned. */
    SUCCEEDED("Succeeded"),
    /** Final: out of attempts, out of time, or failed for good. */
    FAILED("Failed"),
    /** Final: ended by a cancellation request. */
    CANCELLED("Cancelled");

    private static final Set<JobStatus> FINAL = Set.copyOf(EnumSet.of(SUCCEEDED, FAILED, CANCELLED));

    private final String literal;

    JobStatus(String literal) {
        this.literal = literal;
    }

    /** {@return the value of this status in the database and in JSON} */
    public String literal() {
        return literal;
    }

    /** {@return whether the job has ended: succeeded, failed or cancelled} */
    public boolean isFinal() {
        return FINAL.contains(this);
    }

    /** {@return whether a worker or backend holds the job: provisioning or running} */
    public boolean isClaimed() {
        return this == PROVISIONING || this == RUNNING;
    }

    /**
     * The status with this literal, compared exactly.
     *
     * @param literal such as {@code Queued}
     * @return the status
     * @throws IllegalArgumentException if there is none; the message lists those that there are
     */
    public static JobStatus of(String literal) {
        for (JobStatus status : values()) {
            if (status.literal.equals(literal)) {
                return status;
            }
        }
        throw new IllegalArgumentException("No job status is written \"" + literal + "\"; known are "
                + Arrays.stream(values()).map(JobStatus::literal).collect(Collectors.joining(", "))
                + ". A newer Millrace may have written it: upgrade this one.");
    }
}
