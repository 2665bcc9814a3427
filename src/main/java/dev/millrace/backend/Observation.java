package dev.millrace.backend;

import dev.millrace.job.InvalidJobException;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.Progress;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.types.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How an attempt at a backend is. What says that it has ended is final: it must not say otherwise later. */
public sealed interface Observation {
    /**
     * It runs, or waits for its turn.
     *
     * @param percent 0 to 100, or null if that is not known
     * @param phase what it is doing, 1 to 512 characters, or null if there is nothing to say
     */
    record Running(@Nullable Double percent, @Nullable String phase) implements Observation {
        /** It runs, and that is all that is known. */
        public static final Running PLAINLY = new Running(null, null);

        /**
         * Checks the values.
         *
         * @param percent see {@link #percent()}
         * @param phase see {@link #phase()}
         * @throws InvalidJobException if a value is not allowed
         */
        public Running {
            new Progress(percent, phase);
        }
    }

    /**
     * It has succeeded.
     *
     * @param result the job's result, at most 1 MiB, which its callers can read for a while; null if there is none
     * @param artifacts references to what it has produced, at most 100, each 1 to 2,000 characters
     */
    record Succeeded(@Nullable JsonText result, List<String> artifacts) implements Observation {
        /** It has succeeded, and left nothing. */
        public static final Succeeded PLAINLY = new Succeeded(null, List.of());

        /**
         * Checks the values.
         *
         * @param result see {@link #result()}
         * @param artifacts see {@link #artifacts()}
         * @throws InvalidJobException if a value is not allowed
         */
        public Succeeded {
            artifacts = List.copyOf(artifacts);
            new JobOutcome(null, null, artifacts, null, null);
            int bytes = result == null ? 0 : result.text().getBytes(StandardCharsets.UTF_8).length;
            if (bytes > ResultPackageStore.MAX_BYTES) {
                throw new InvalidJobException(
                        "result", bytes + " bytes of JSON", "at most " + ResultPackageStore.MAX_BYTES + " bytes");
            }
        }
    }

    /**
     * It has failed.
     *
     * @param message why, bounded when stored
     * @param retrying whether another attempt may go better
     */
    record Failed(String message, Retrying retrying) implements Observation {
        /**
         * Checks the values.
         *
         * @param message see {@link #message()}
         * @param retrying see {@link #retrying()}
         */
        public Failed {
            Objects.requireNonNull(message, "message");
            Objects.requireNonNull(retrying, "retrying");
        }
    }

    /** It was cancelled, as Millrace asked or by someone at the backend. */
    record Cancelled() implements Observation {}

    /**
     * The backend certainly doesn't run it, and knows nothing of how it ended: it never came in, or its traces are
     * gone. The attempt has failed, and another one may go better.
     */
    record Gone() implements Observation {}

    /** {@return whether it runs no more} */
    default boolean hasEnded() {
        return !(this instanceof Running);
    }
}
