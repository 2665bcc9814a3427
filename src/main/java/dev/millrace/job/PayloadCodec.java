package dev.millrace.job;

import dev.millrace.types.JsonText;
import org.jspecify.annotations.Nullable;

/** Maps payloads to a job's parameters and back. Implementations are safe for use by many threads. */
public interface PayloadCodec {
    /**
     * The payload as parameters.
     *
     * @param <T> the payload's type
     * @param type the kind of job
     * @param payload what was submitted
     * @return a JSON object
     * @throws InvalidJobException if it can't be written, or is not written as a JSON object
     */
    <T> JsonText encode(JobType<T> type, T payload);

    /**
     * The parameters as a payload.
     *
     * @param <T> the payload's type
     * @param type the kind of job
     * @param parameters a JSON object, as it was stored
     * @return what the handler gets
     * @throws PayloadException if they don't fit the type
     */
    <T> T decode(JobType<T> type, JsonText parameters);

    /**
     * What a job leaves for its callers, as JSON.
     *
     * @param result any value that can be written as JSON
     * @return the JSON
     * @throws InvalidJobException if it can't be written
     */
    JsonText encodeResult(@Nullable Object result);

    /**
     * What a job has left, as a value.
     *
     * @param <R> the value's type
     * @param result the JSON, as it was stored
     * @param type the value's type
     * @return the value; null where the JSON is {@code null}
     * @throws PayloadException if it doesn't fit the type
     */
    <R> @Nullable R decodeResult(JsonText result, Class<R> type);
}
