package dev.millrace.store;

import dev.millrace.job.InvalidJobException;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.Messages;
import java.util.List;
import java.util.Objects;

/**
 * What an attempt adds to its job's {@link JobOutcome}, however it ends.
 *
 * @param warnings what it warned of, at most {@value JobOutcome#MAX_WARNINGS}; each is bounded when it is stored
 * @param artifacts references to what it produced, at most {@value JobOutcome#MAX_ARTIFACTS}; one that the job has already
 *     is not added again
 */
public record Notes(List<String> warnings, List<String> artifacts) {
    /** Nothing to add. */
    public static final Notes NONE = new Notes(List.of(), List.of());

    /**
     * Checks the values.
     *
     * @param warnings see {@link #warnings()}
     * @param artifacts see {@link #artifacts()}
     * @throws InvalidJobException if a value is not allowed
     */
    public Notes {
        warnings = limited("notes.warnings", warnings, JobOutcome.MAX_WARNINGS).stream()
                .map(warning -> Objects.requireNonNull(Messages.bounded(warning)))
                .toList();
        artifacts = limited("notes.artifacts", artifacts, JobOutcome.MAX_ARTIFACTS);
        artifacts.forEach(JobOutcome::checkArtifact);
    }

    /** {@return whether there is nothing to add} */
    public boolean isEmpty() {
        return warnings.isEmpty() && artifacts.isEmpty();
    }

    private static List<String> limited(String field, List<String> values, int most) {
        if (values.size() > most) {
            throw new InvalidJobException(field, values.size() + " entries", "at most " + most);
        }
        return List.copyOf(values);
    }
}
