package dev.millrace.store.postgres;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.job.Messages;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogLine;
import dev.millrace.types.JsonText;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * Lines as JSON, and back. An entry is never larger than {@value #MAX_BYTES} bytes, the database's time included, which is
 * put in when it is appended: what doesn't fit is cut off, character by character and so never within an escape or a pair,
 * and the entry then says {@code "cut":true}. The fields come first, with up to half of the room; the message takes the
 * rest.
 */
final class LogCodec {
    static final int MAX_BYTES = 4_096;

    /** What the database puts before the members: {@code "at":"2026-01-31T23:59:59.999999Z",}. */
    private static final int TIME_BYTES = 40;

    /** All that is there but for message and fields, at its longest. */
    private static final int FRAME_BYTES =
            "{\"attempt\":2147483647,\"level\":\"TRACE\",\"message\":\"\",\"fields\":{},\"cut\":true}".length();

    private static final int ROOM = MAX_BYTES - TIME_BYTES - FRAME_BYTES;

    /** {@code "":"",} around a name and its value. */
    private static final int FIELD_FRAME_BYTES = 6;

    private static final ObjectReader READER = JsonMapper.builder().build().readerFor(JsonNode.class);

    /** The members of a line, as a JSON object that lacks the time. */
    String encode(LogEntry entry) {
        Text fields = new Text(ROOM / 2);
        entry.fields().forEach((name, value) -> field(fields, name, value));
        Text message = new Text(ROOM - fields.bytes());
        message.quote(entry.message(), Messages::clean);
        return "{\"attempt\":" + entry.attempt() + ",\"level\":\"" + entry.level() + "\",\"message\":\"" + message + '"'
                + (fields.bytes() == 0 ? "" : ",\"fields\":{" + fields + '}')
                + (message.cut || fields.cut ? ",\"cut\":true}" : "}");
    }

    private static void field(Text fields, String name, String value) {
        Text alone = new Text(Integer.MAX_VALUE);
        alone.quote(name, IntUnaryOperator.identity());
        if (fields.cut || alone.bytes() + FIELD_FRAME_BYTES > fields.room) {
            fields.cut = true;
            return;
        }
        fields.write(fields.bytes() == 0 ? "\"" : ",\"");
        fields.quote(name, IntUnaryOperator.identity());
        fields.write("\":\"");
        fields.room--; // for the quote behind the value
        fields.quote(value, Messages::clean);
        fields.room++;
        fields.write("\"");
    }

    /** The line of an entry. One that this release can't read is shown as it is, so that it hides no other one. */
    LogLine decode(long sequence, JsonText entry) {
        try {
            JsonNode node = READER.readValue(entry.text());
            Map<String, String> fields = new LinkedHashMap<>();
            node.path("fields")
                    .properties()
                    .forEach(
                            field -> fields.put(field.getKey(), field.getValue().asText()));
            return new LogLine(
                    sequence,
                    Instant.parse(node.path("at").asText()),
                    node.path("attempt").asInt(),
                    LogEntry.Level.valueOf(node.path("level").asText()),
                    node.path("message").asText(),
                    fields,
                    node.path("cut").asBoolean());
        } catch (JsonProcessingException | RuntimeException e) {
            return new LogLine(
                    sequence,
                    Instant.EPOCH,
                    0,
                    LogEntry.Level.WARN,
                    "(an entry that this release can't read) " + entry.text(),
                    Map.of(),
                    false);
        }
    }

    /** JSON text that takes no more bytes of UTF-8 than it has room for. */
    private static final class Text {
        private final StringBuilder text = new StringBuilder();
        private final int size;
        private int room;
        private boolean cut;

        Text(int room) {
            this.size = room;
            this.room = room;
        }

        int bytes() {
            return size - room;
        }

        /** ASCII, as it is. */
        void write(String ascii) {
            text.append(ascii);
            room -= ascii.length();
        }

        /** As the inside of a JSON string, as far as there is room. */
        void quote(String value, IntUnaryOperator cleaned) {
            int i = 0;
            while (i < value.length()) {
                int found = value.codePointAt(i);
                int c = cleaned.applyAsInt(found);
                int needed = quotedBytes(c);
                if (needed > room) {
                    cut = true;
                    return;
                }
                append(c);
                room -= needed;
                i += Character.charCount(found);
            }
        }

        private void append(int c) {
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < 0x20) {
                        text.append("\\u00")
                                .append(Character.forDigit(c >> 4, 16))
                                .append(Character.forDigit(c & 15, 16));
                    } else {
                        text.appendCodePoint(c);
                    }
                }
            }
        }

        private static int quotedBytes(int c) {
            if (c == '"' || c == '\\' || c == '\n' || c == '\t') {
                return 2;
            }
            return c < 0x20 ? 6 : c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        }

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
