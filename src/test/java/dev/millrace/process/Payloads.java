package dev.millrace.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.types.JsonText;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Payloads by Jackson, for workers that are put together by hand. */
final class Payloads implements PayloadCodec {
    private final ObjectMapper mapper = new ObjectMapper();

    @Override
    public <T> JsonText encode(JobType<T> type, T payload) {
        try {
            return JsonText.of(mapper.writeValueAsString(payload));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public <T> T decode(JobType<T> type, JsonText parameters) {
        try {
            return mapper.readValue(parameters.text(), mapper.constructType(type.payloadType()));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public JsonText encodeResult(@Nullable Object result) {
        try {
            return JsonText.of(mapper.writeValueAsString(result));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public <R> @Nullable R decodeResult(JsonText result, Class<R> type) {
        try {
            return mapper.readValue(result.text(), type);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
