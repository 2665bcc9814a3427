package dev.millrace.job;

import dev.millrace.types.JsonText;

/** Maps payloads to a job's parameters and back. Implementations are safe for use by many threads. */
public interface PayloadCodec {
    /**
     * The payload as parameters.
     *
     * @throws InvalidJobException if it can't be written, or is not written as a JSON object
     */
    <T> JsonText encode(JobType<T> type, T payload);

    /**
     * The parameters as a payload.
     *
     * @throws PayloadException if they don't fit the type
     */
    <T> T decode(JobType<T> type, JsonText parameters);
}
