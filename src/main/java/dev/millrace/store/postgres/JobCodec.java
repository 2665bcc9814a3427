package dev.millrace.store.postgres;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.JsonTextConverter;
import dev.millrace.types.Priority;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.jooq.JSON;
import org.jspecify.annotations.Nullable;

/**
 * A job as the JSON of its column {@code record}, and back. What this release doesn't know of a job or its spec comes
 * out as it went in, to the letter: such members, and the parameters, are cut out of the text rather than parsed.
 */
final class JobCodec {
    /** The largest record that a caller may have stored, in bytes of UTF-8. */
    static final int MAX_RECORD_BYTES = 1024 * 1024;

    private static final String SOURCE = "source";

    /** Jackson reads no deeper, by default. */
    private static final int MAX_DEPTH = StreamReadConstraints.DEFAULT_MAX_DEPTH;

    /** For text that is known to be JSON that can be stored, since it was; {@link JsonText#of} would parse it again. */
    private static final JsonTextConverter STORED = new JsonTextConverter();

    /** So many texts are kept; most jobs have the same few policies, and to parse these is dear. */
    private static final int KEPT = 256;

    private final ConcurrentMap<String, Duration> durations = new ConcurrentHashMap<>();
    private final ObjectWriter writer;
    private final ObjectReader reader;
    private final ObjectReader trees;

    JobCodec() {
        SimpleModule module = new SimpleModule("millrace");
        module.addSerializer(JsonText.class, new RawSerializer());
        module.addDeserializer(JsonText.class, new RawDeserializer());
        text(module, Instant.class, Instant::toString, Instant::parse);
        text(module, Duration.class, Duration::toString, this::duration);
        text(module, Priority.class, Priority::literal, Priority::of);
        text(module, JobStatus.class, JobStatus::literal, JobStatus::of);
        ObjectMapper mapper = JsonMapper.builder()
                .addModule(module)
                .defaultPropertyInclusion(
                        JsonInclude.Value.construct(JsonInclude.Include.NON_EMPTY, JsonInclude.Include.USE_DEFAULTS))
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .build();
        writer = mapper.writerFor(Job.class);
        reader = mapper.readerFor(Job.class);
        trees = mapper.readerFor(JsonNode.class);
    }

    /**
     * Refuses a record that a caller may not have stored.
     *
     * @throws InvalidJobException if it is too large
     */
    static JsonText bounded(JsonText record) {
        int bytes = size(record);
        if (bytes > MAX_RECORD_BYTES) {
            throw new InvalidJobException(
                    "record",
                    bytes + " bytes of JSON",
                    "at most " + MAX_RECORD_BYTES + " bytes; keep large input elsewhere and submit a reference to it");
        }
        return record;
    }

    /** Its size in bytes, or, where that is certainly allowed, something smaller than the limit. */
    static int size(JsonText record) {
        int characters = record.text().length();
        return characters <= MAX_RECORD_BYTES / 3 ? characters : record.text().getBytes(StandardCharsets.UTF_8).length;
    }

    /** The job as its record. Of any size: a job must be able to end, whatever its end adds to it. */
    JsonText encode(Job job) {
        String text;
        try {
            text = writer.writeValueAsString(job);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Job \"" + job.id() + "\" can't be written as JSON: " + e.getMessage(), e);
        }
        try {
            return isPlain(text) ? stored(text) : JsonText.of(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidJobException(
                    "record", "JSON that can't be stored: " + e.getMessage(), "JSON within these limits");
        }
    }

    private Duration duration(String text) {
        Duration known = durations.get(text);
        if (known != null) {
            return known;
        }
        Duration duration = Duration.parse(text);
        if (durations.size() < KEPT) {
            durations.put(text, duration);
        }
        return duration;
    }

    /**
     * Whether what Jackson has written of a job can be stored for certain: its values were checked one by one, but not how deep
     * one is within the other.
     */
    private static boolean isPlain(String text) {
        int begins = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            begins += c == '{' || c == '[' ? 1 : 0;
            if (Character.isSurrogate(c)) {
                return false;
            }
        }
        return begins <= MAX_DEPTH;
    }

    private static JsonText stored(String text) {
        return Objects.requireNonNull(STORED.from(JSON.json(text)));
    }

    /**
     * The job in a record; its time of creation and attempt state are not in there.
     *
     * @throws UnreadableJobException if this release can't read it
     */
    Job decode(String id, JsonText record) {
        Job job;
        try {
            job = reader.withAttribute(SOURCE, record.text()).readValue(record.text());
        } catch (JsonProcessingException | RuntimeException e) {
            throw new UnreadableJobException(
                    id, "its record doesn't say a job (" + e.getClass().getSimpleName() + ")", e);
        }
        if (job == null || !job.id().equals(id)) {
            String found = job == null ? "nothing" : "another job, \"" + job.id() + "\"";
            throw new UnreadableJobException(id, "its record says " + found, null);
        }
        return job;
    }

    /** Whether two JSON texts say the same: members in any order, numbers by value. */
    boolean sameJson(JsonText one, JsonText other) {
        if (one.equals(other)) {
            return true;
        }
        try {
            JsonNode a = trees.readValue(one.text());
            JsonNode b = trees.readValue(other.text());
            return a.equals(JobCodec::compareNumbers, b);
        } catch (JsonProcessingException | NumberFormatException e) {
            return false; // nothing that Java can compare, and not the same text either
        }
    }

    private static int compareNumbers(JsonNode a, JsonNode b) {
        if (a.isNumber() && b.isNumber()) {
            return a.decimalValue().compareTo(b.decimalValue());
        }
        return a.equals(b) ? 0 : 1;
    }

    private static <T> void text(
            SimpleModule module, Class<T> type, Function<T, String> write, Function<String, T> read) {
        module.addSerializer(type, new StdSerializer<T>(type) {
            private static final long serialVersionUID = 1L;

            @Override
            public void serialize(T value, JsonGenerator out, SerializerProvider provider) throws IOException {
                out.writeString(write.apply(value));
            }
        });
        module.addDeserializer(type, new StdDeserializer<T>(type) {
            private static final long serialVersionUID = 1L;

            @Override
            public T deserialize(JsonParser in, DeserializationContext context) throws IOException {
                return read.apply(in.getText());
            }
        });
    }

    /** Writes JSON as it is. */
    private static final class RawSerializer extends StdSerializer<JsonText> {
        private static final long serialVersionUID = 1L;

        RawSerializer() {
            super(JsonText.class);
        }

        @Override
        public void serialize(JsonText value, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeRawValue(value.text());
        }
    }

    /** Cuts the current value out of the text that is being read. */
    private static final class RawDeserializer extends StdDeserializer<JsonText> {
        private static final long serialVersionUID = 1L;

        RawDeserializer() {
            super(JsonText.class);
        }

        @Override
        public JsonText deserialize(JsonParser in, DeserializationContext context) throws IOException {
            int start = (int) in.currentTokenLocation().getCharOffset();
            if (in.currentToken() == JsonToken.VALUE_STRING) {
                in.finishToken();
            }
            in.skipChildren();
            int end = (int) in.currentLocation().getCharOffset();
            String source = (String) context.getAttribute(SOURCE);
            return stored(source.substring(start, end).stripTrailing());
        }

        @Override
        public @Nullable Object getAbsentValue(DeserializationContext context) {
            return null;
        }

        @Override
        public JsonText getNullValue(DeserializationContext context) {
            return JsonText.of("null");
        }
    }
}
