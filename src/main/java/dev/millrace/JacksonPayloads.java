package dev.millrace;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.job.PayloadException;
import dev.millrace.types.JsonText;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Payloads by Jackson. The text is made once, so a payload that changes later changes nothing that was submitted. */
final class JacksonPayloads implements PayloadCodec {
    private final ObjectMapper mapper;

    JacksonPayloads(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public <T> JsonText encode(JobType<T> type, T payload) {
        if (payload instanceof JsonText text) {
            return object(text);
        }
        if (payload == null) {
            throw new InvalidJobException("payload of kind \"" + type.kind() + "\"", "null", "a payload of its type");
        }
        try {
            JavaType javaType = mapper.constructType(type.payloadType());
            return object(JsonText.of(mapper.writerFor(javaType).writeValueAsString(payload)));
        } catch (JsonProcessingException e) {
            throw unwritable(type, e, "that Jackson can't write (" + where(e) + ")");
        } catch (InvalidJobException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw unwritable(type, e, "whose JSON can't be stored: " + e.getMessage());
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T decode(JobType<T> type, JsonText parameters) {
        if (type.payloadType() == JsonText.class) {
            return (T) parameters;
        }
        try {
            return mapper.readValue(parameters.text(), mapper.constructType(type.payloadType()));
        } catch (JsonProcessingException e) {
            // Neither Jackson's message nor the exception itself: they quote the parameters, which may be confidential,
            // and what a handler fails with is stored and logged.
            throw new PayloadException(
                    type.kind(),
                    "The parameters of this job of kind \"" + type.kind() + "\" can't be read as "
                            + type.payloadType().getTypeName() + ": " + where(e)
                            + ". They are kept; the job can run once its handler's payload type fits them.");
        }
    }

    @Override
    public JsonText encodeResult(@Nullable Object result) {
        if (result instanceof JsonText text) {
            return text;
        }
        try {
            return JsonText.of(mapper.writeValueAsString(result));
        } catch (JsonProcessingException e) {
            throw unwritable(result, e, "that Jackson can't write (" + where(e) + ")");
        } catch (IllegalArgumentException e) {
            throw unwritable(result, e, "whose JSON can't be stored: " + e.getMessage());
        }
    }

    @Override
    public <R> @Nullable R decodeResult(JsonText result, Class<R> type) {
        if (type == JsonText.class) {
            return type.cast(result);
        }
        try {
            return mapper.readValue(result.text(), type);
        } catch (JsonProcessingException e) {
            throw new PayloadException(
                    null,
                    "This result can't be read as " + type.getTypeName() + ": " + where(e)
                            + ". It is kept; read it as JsonText, or as a type that fits it.");
        }
    }

    private static InvalidJobException unwritable(@Nullable Object result, Exception cause, String found) {
        InvalidJobException invalid = new InvalidJobException(
                "result",
                "a " + (result == null ? "null" : result.getClass().getTypeName()) + " " + found,
                "a value that Jackson writes as JSON");
        invalid.initCause(cause);
        return invalid;
    }

    private static InvalidJobException unwritable(JobType<?> type, Exception cause, String found) {
        InvalidJobException invalid = new InvalidJobException(
                "payload of kind \"" + type.kind() + "\"",
                "a " + type.payloadType().getTypeName() + " " + found,
                "a value that Jackson writes as a JSON object");
        invalid.initCause(cause);
        return invalid;
    }

    /** What went wrong and where, without what is there. */
    private static String where(JsonProcessingException e) {
        String what = e.getClass().getSimpleName();
        if (e instanceof InvalidDefinitionException) {
            return what + ": " + e.getOriginalMessage(); // of types, not of values
        }
        if (e instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()) {
            String members = mapping.getPath().stream()
                    .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : step.getFieldName())
                    .collect(Collectors.joining("."));
            return what + " at " + members;
        }
        JsonLocation location = e.getLocation();
        return location == null
                ? what
                : what + " at line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    private static JsonText object(JsonText text) {
        if (!text.text().stripLeading().startsWith("{")) {
            throw new InvalidJobException(
                    "payload",
                    "a value that is written as JSON, but not as an object",
                    "a record, bean or map, which is written as a JSON object");
        }
        return text;
    }
}
