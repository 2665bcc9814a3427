package dev.millrace.store;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A job of this id is already there, and is another one. It is as it was, and no SQL error was raised. Where many jobs were
 * submitted at once, all others have been submitted.
 */
public final class JobConflictException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final String jobId;
    private final List<String> differences;
    private final Map<String, List<String>> conflicts;

    /**
     * A job that is another one.
     *
     * @param jobId the id that both have
     * @param differences what differs, such as {@code kind}
     */
    public JobConflictException(String jobId, List<String> differences) {
        super(
                "A job with the id \"" + jobId + "\" is already there, and differs in "
                        + String.join(", ", differences)
                        + ". Submit under another id, or with the same content if this is a repetition.",
                null);
        this.jobId = jobId;
        this.differences = List.copyOf(differences);
        this.conflicts = Map.of(jobId, this.differences);
    }

    /**
     * Jobs that are other ones, among those that were submitted at once.
     *
     * @param conflicts what differs, by the id that both have; at least one
     */
    public JobConflictException(Map<String, List<String>> conflicts) {
        super(
                conflicts.size() + " of the jobs, such as " + first(conflicts)
                        + ", are already there as other ones; all others were submitted. Submit these under other ids.",
                null);
        this.jobId = conflicts.keySet().iterator().next();
        this.differences = List.copyOf(conflicts.values().iterator().next());
        this.conflicts = Collections.unmodifiableMap(new LinkedHashMap<>(conflicts));
    }

    private static String first(Map<String, List<String>> conflicts) {
        Map.Entry<String, List<String>> first = conflicts.entrySet().iterator().next();
        return '"' + first.getKey() + "\", which differs in " + String.join(", ", first.getValue());
    }

    /** {@return what differs, by the id that both have: of all jobs that were submitted at once} */
    public Map<String, List<String>> conflicts() {
        return conflicts;
    }

    /** {@return the id that both have} */
    public String jobId() {
        return jobId;
    }

    /** {@return what differs, such as {@code kind} or {@code parameters}} */
    public List<String> differences() {
        return differences;
    }
}
