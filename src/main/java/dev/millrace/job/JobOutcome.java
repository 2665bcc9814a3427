package dev.millrace.job;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What came of a job so far.
 *
 * @param errorMessage why the last of its failed attempts failed, at most {@value Messages#MAX_CHARACTERS} characters;
 *     null if none did. A later success leaves it as it is
 * @param warnings what its handler warned of, at most {@value #MAX_WARNINGS}
 * @param artifacts references to what it produced, at most {@value #MAX_ARTIFACTS}
 * @param providerOperationId the id under which a remote backend runs it
 * @param history the last {@value #MAX_HISTORY} attempts that ended otherwise than by success, oldest first
 */
public record JobOutcome(
        @Nullable String errorMessage,
        List<String> warnings,
        List<String> artifacts,
        @Nullable String providerOperationId,
        List<PastAttempt> history) {
    /** The most warnings that a job can have. */
    public static final int MAX_WARNINGS = 100;

    /** The most artifacts that a job can have. */
    public static final int MAX_ARTIFACTS = 100;

    /** How many of its past attempts a job keeps. */
    public static final int MAX_HISTORY = 20;

    /** Nothing yet. */
    public static final JobOutcome NONE = new JobOutcome(null, null, null, null, null);

    /**
     * Checks the values, and takes the defaults for those that are null.
     *
     * @param errorMessage see {@link #errorMessage()}
     * @param warnings see {@link #warnings()}
     * @param artifacts see {@link #artifacts()}
     * @param providerOperationId see {@link #providerOperationId()}
     * @param history see {@link #history()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobOutcome(
            @Nullable String errorMessage,
            @Nullable List<String> warnings,
            @Nullable List<String> artifacts,
            @Nullable String providerOperationId,
            @Nullable List<PastAttempt> history) {
        this.errorMessage = Messages.bounded(errorMessage);
        this.warnings = limited("outcome.warnings", warnings, MAX_WARNINGS);
        this.artifacts = limited("outcome.artifacts", artifacts, MAX_ARTIFACTS);
        this.providerOperationId = Checks.reference("outcome.providerOperationId", providerOperationId);
        this.history = history == null ? List.of() : last(history);
    }

    /**
     * {@return this outcome with another error message}
     *
     * @param value see {@link #errorMessage()}
     */
    public JobOutcome withErrorMessage(@Nullable String value) {
        return new JobOutcome(value, warnings, artifacts, providerOperationId, history);
    }

    /**
     * {@return this outcome with another id at the remote backend}
     *
     * @param value see {@link #providerOperationId()}
     */
    public JobOutcome withProviderOperationId(@Nullable String value) {
        return new JobOutcome(errorMessage, warnings, artifacts, value, history);
    }

    /**
     * {@return this outcome with one more attempt in the history; the oldest makes room if it is full}
     *
     * @param attempt the attempt that has ended
     */
    public JobOutcome withPastAttempt(PastAttempt attempt) {
        List<PastAttempt> longer = new ArrayList<>(history);
        longer.add(attempt);
        return new JobOutcome(errorMessage, warnings, artifacts, providerOperationId, longer);
    }

    /**
     * {@return this outcome with more warnings and artifacts} Of more than there is room for, the newest are kept; an artifact
     * that is there already is not added again.
     *
     * @param moreWarnings what was warned of; each is bounded
     * @param moreArtifacts references to what was produced
     */
    public JobOutcome withNotes(List<String> moreWarnings, List<String> moreArtifacts) {
        List<String> allWarnings = new ArrayList<>(warnings);
        moreWarnings.forEach(warning -> allWarnings.add(Messages.bounded(warning)));
        Set<String> allArtifacts = new LinkedHashSet<>(artifacts);
        allArtifacts.addAll(moreArtifacts);
        return new JobOutcome(
                errorMessage,
                newest(allWarnings, MAX_WARNINGS),
                newest(List.copyOf(allArtifacts), MAX_ARTIFACTS),
                providerOperationId,
                history);
    }

    /**
     * Checks a reference to something that a job has produced.
     *
     * @param reference 1 to {@value Messages#MAX_CHARACTERS} characters, without NUL and lone surrogates
     * @throws InvalidJobException if it is not allowed
     */
    public static void checkArtifact(String reference) {
        Checks.text("artifact", reference, Messages.MAX_CHARACTERS, Messages.MAX_CHARACTERS * 4);
    }

    private static List<String> newest(List<String> values, int most) {
        return values.subList(Math.max(0, values.size() - most), values.size());
    }

    private static List<String> limited(String field, @Nullable List<String> values, int most) {
        if (values == null) {
            return List.of();
        }
        if (values.size() > most) {
            throw new InvalidJobException(field, values.size() + " entries", "at most " + most);
        }
        for (String value : values) {
            Checks.text(field, value, Messages.MAX_CHARACTERS, Messages.MAX_CHARACTERS * 4);
        }
        return Checks.noNulls(field, values);
    }

    private static List<PastAttempt> last(List<PastAttempt> history) {
        return List.copyOf(history.subList(Math.max(0, history.size() - MAX_HISTORY), history.size()));
    }
}
