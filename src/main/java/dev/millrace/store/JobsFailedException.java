package dev.millrace.store;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Some of many jobs could not be submitted, cancelled or ended, while the database was available: a trigger or constraint of
 * yours refuses them, or others have locked them for longer than the session waits. All others were dealt with: done,
 * or refused for reasons of their own, which are {@linkplain #getSuppressed() suppressed} exceptions of this one. Repeating a
 * call that names its jobs by their ids is safe, and tries these again. Not thrown in a caller's transaction, which an error has
 * ended anyway.
 */
public final class JobsFailedException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final Map<String, StoreException> failures;
    private final int untried;

    /**
     * Jobs that failed, among others that didn't.
     *
     * @param what what was to be done, to follow "Can't", such as {@code cancel jobs}
     * @param failures why, by the jobs' ids; at least one
     * @param untried see {@link #untried()}
     */
    public JobsFailedException(String what, Map<String, StoreException> failures, int untried) {
        super(
                message(what, failures, untried),
                failures.values().iterator().next(),
                failures.values().stream().anyMatch(StoreException::mayHaveHappened));
        this.failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
        this.untried = untried;
    }

    private static String message(String what, Map<String, StoreException> failures, int untried) {
        Map.Entry<String, StoreException> first = failures.entrySet().iterator().next();
        return "Can't " + what + ": " + failures.size() + " failed, such as \"" + first.getKey() + "\" ("
                + first.getValue().getMessage() + "). "
                + (untried == 0
                        ? "All others were dealt with."
                        : "After these, " + untried + " more were not tried; all others were dealt with.")
                + " Mend the cause before you try these again.";
    }

    /** {@return why, by the ids of the jobs that failed} */
    public Map<String, StoreException> failures() {
        return failures;
    }

    /**
     * {@return how many jobs were not tried any more, after a hundred had failed, or for a minute} They are those with the last ids,
     * bytewise.
     */
    public int untried() {
        return untried;
    }
}
