package dev.millrace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.job.PayloadException;
import dev.millrace.types.JsonText;

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
        try {
            JavaType javaType = mapper.constructType(type.payloadType());
            return object(JsonText.of(mapper.writerFor(javaType).writeValueAsString(payload)));
        } catch (JsonProcessingException e) {
            InvalidJobException invalid = new InvalidJobException(
                    "payload of kind \"" + type.kind() + "\"",
                    "a " + type.payloadType().getTypeName() + " that Jackson can't write (" + e.getOriginalMessage()
                            + ")",
                    "a value that Jackson writes as a JSON object");
            invalid.initCause(e);
            throw invalid;
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
            // Not the message that quotes the source: parameters may be confidential.
            throw new PayloadException(
                    type.kind(),
                    "The parameters of this job of kind \"" + type.kind() + "\" can't be read as "
                            + type.payloadType().getTypeName() + ": " + e.getOriginalMessage()
                            + ". They are kept; the job can run once its handler's payload type fits them.",
                    e);
        }
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
