package dev.millrace.job;

import java.lang.reflect.Type;

/**
 * A kind of job together with the Java type of its payload, so that who submits and who handles agree on it.
 *
 * @param kind which handler runs the job: 1 to 64 characters, at most 128 bytes
 * @param payloadType what the job's parameters are mapped to; must be written as a JSON object. {@link
 *     dev.millrace.types.JsonText} leaves them as they are
 * @param <T> the payload's type
 */
@SuppressWarnings("UnusedTypeParameter") // it ties payload and handler together at compile time
public record JobType<T>(String kind, Type payloadType) {
    /**
     * Checks the values.
     *
     * @param kind see {@link #kind()}
     * @param payloadType see {@link #payloadType()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobType {
        Checks.name("kind", kind);
        Checks.given("payloadType", payloadType);
    }

    /**
     * {@return a kind whose payload is of this class}
     *
     * @param <T> the payload's type
     * @param kind 1 to 64 characters
     * @param payloadType a class whose instances are written as JSON objects
     */
    public static <T> JobType<T> of(String kind, Class<T> payloadType) {
        return new JobType<>(kind, payloadType);
    }
}
