package dev.millrace.job;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import dev.millrace.types.JsonText;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done, by whom, with what.
 *
 * @param kind which handler runs the job: 1 to 64 characters
 * @param runtimeProfile which workers may run it: 1 to 64 characters, {@value #DEFAULT_PROFILE} if null
 * @param queue the queue it waits in: 1 to 64 characters, {@value #DEFAULT_QUEUE} if null
 * @param backend {@value #LOCAL_BACKEND} (also if null) for jobs that workers claim, or the name of a remote backend
 * @param parameters a JSON object, the handler's input; {@code {}} if null. Strings in it may hold NUL
 * @param references what the job belongs to
 * @param more members of the spec that this release does not know; kept as they are
 */
public record JobSpec(
        String kind,
        String runtimeProfile,
        String queue,
        String backend,
        JsonText parameters,
        JobReferences references,
        @JsonAnyGetter @JsonAnySetter Map<String, JsonText> more) {
    /** The profile of jobs for which none is said. */
    public static final String DEFAULT_PROFILE = "managed";

    /** The queue of jobs for which none is said. */
    public static final String DEFAULT_QUEUE = "default";

    /** What stands in the place of a backend where workers of this library run the job. */
    public static final String LOCAL_BACKEND = "local";

    private static final Set<String> KNOWN =
            Set.of("kind", "runtimeProfile", "queue", "backend", "parameters", "references");

    private static final JsonText NO_PARAMETERS = JsonText.of("{}");

    /**
     * Checks the values, and takes the defaults for those that are null.
     *
     * @param kind see {@link #kind()}
     * @param runtimeProfile see {@link #runtimeProfile()}
     * @param queue see {@link #queue()}
     * @param backend see {@link #backend()}
     * @param parameters see {@link #parameters()}
     * @param references see {@link #references()}
     * @param more see {@link #more()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobSpec(
            String kind,
            @Nullable String runtimeProfile,
            @Nullable String queue,
            @Nullable String backend,
            @Nullable JsonText parameters,
            @Nullable JobReferences references,
            @Nullable Map<String, JsonText> more) {
        this.kind = Checks.name("kind", kind);
        this.runtimeProfile = Checks.name("runtimeProfile", runtimeProfile == null ? DEFAULT_PROFILE : runtimeProfile);
        this.queue = Checks.name("queue", queue == null ? DEFAULT_QUEUE : queue);
        this.backend = Checks.name("backend", backend == null ? LOCAL_BACKEND : backend);
        this.parameters = parameters == null ? NO_PARAMETERS : object(parameters);
        this.references = references == null ? JobReferences.NONE : references;
        this.more = Checks.more("spec", more, KNOWN);
    }

    /**
     * {@return a local job of this kind, in the default queue, for the default profile}
     *
     * @param kind 1 to 64 characters
     * @param parameters a JSON object, the handler's input
     */
    public static JobSpec of(String kind, JsonText parameters) {
        return new JobSpec(kind, null, null, null, parameters, null, null);
    }

    /** {@return whether workers of this library run the job, rather than a remote backend} */
    public boolean local() {
        return backend.equals(LOCAL_BACKEND);
    }

    /**
     * {@return this spec with another profile}
     *
     * @param value see {@link #runtimeProfile()}
     */
    public JobSpec withRuntimeProfile(String value) {
        return new JobSpec(kind, value, queue, backend, parameters, references, more);
    }

    /**
     * {@return this spec with another queue}
     *
     * @param value see {@link #queue()}
     */
    public JobSpec withQueue(String value) {
        return new JobSpec(kind, runtimeProfile, value, backend, parameters, references, more);
    }

    /**
     * {@return this spec with another backend}
     *
     * @param value see {@link #backend()}
     */
    public JobSpec withBackend(String value) {
        return new JobSpec(kind, runtimeProfile, queue, value, parameters, references, more);
    }

    /**
     * {@return this spec with other parameters}
     *
     * @param value see {@link #parameters()}
     */
    public JobSpec withParameters(JsonText value) {
        return new JobSpec(kind, runtimeProfile, queue, backend, value, references, more);
    }

    /**
     * {@return this spec with other references}
     *
     * @param value see {@link #references()}
     */
    public JobSpec withReferences(JobReferences value) {
        return new JobSpec(kind, runtimeProfile, queue, backend, parameters, value, more);
    }

    private static JsonText object(JsonText parameters) {
        if (!parameters.text().stripLeading().startsWith("{")) {
            throw new InvalidJobException("parameters", "JSON that is not an object", "a JSON object");
        }
        return parameters;
    }
}
