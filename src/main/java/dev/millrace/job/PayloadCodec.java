package dev.millrace.job;

import dev.millrace.types.JsonText;

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
}
