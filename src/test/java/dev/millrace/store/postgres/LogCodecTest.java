package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Messages;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.LogLine;
import dev.millrace.types.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Any text becomes an entry that the database takes, cut where it must be and nowhere else. */
@MillraceDatabase
class LogCodecTest {
    private static final List<Level> LEVELS = List.of(Level.values());
    private static final String TIME = "{\"at\":\"2026-01-31T23:59:59.999999Z\",";

    private final StoreFixture db;
    private final LogCodec codec = new LogCodec();

    LogCodecTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private LogLine roundTrip(LogEntry entry) {
        String text = TIME + codec.encode(entry).substring(1);
        assertThat(text.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(LogCodec.MAX_BYTES);
        return codec.decode(0, JsonText.of(text));
    }

    @Test
    void message_withNulControlsAndLoneSurrogates_isMadeStorable() {
        LogLine line = roundTrip(LogEntry.of(1, Level.INFO, "a\0b\u001Bc\uD800d\uDC00e\uD83D\uDE00\u007F"));
        assertThat(line.message()).isEqualTo("a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uD83D\uDE00\uFFFD");
        assertThat(line.cut()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\"", "\\", "\n", "\0", "\u00E4", "\u20AC", "\uD83D\uDE00", "\uD800", "a\uD83D\uDE00"})
    void tooLongMessage_isCutToWhatFits_andSaysSo(String piece) {
        LogLine line = roundTrip(LogEntry.of(Integer.MAX_VALUE, Level.ERROR, piece.repeat(5_000)));
        assertThat(line.cut()).isTrue();
        String clean = piece.replace('\0', '\uFFFD').replace('\uD800', '\uFFFD').repeat(5_000);
        if (piece.codePointCount(0, piece.length()) == 1 && piece.length() == 2) {
            clean = piece.repeat(5_000);
        }
        if (piece.length() == 3) {
            clean = piece.repeat(5_000);
        }
        assertThat(clean).startsWith(line.message());
        String entry = codec.encode(LogEntry.of(1, Level.INFO, line.message()));
        assertThat(entry.getBytes(StandardCharsets.UTF_8).length)
                .as("little room is left unused")
                .isGreaterThan(LogCodec.MAX_BYTES - 110);
    }

    @Test
    void fields_keepTheirOrder_andLeaveHalfOfTheRoomToTheMessage() {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("z", "1");
        fields.put("a", "\0\"2");
        fields.put("big", "v".repeat(10_000));
        fields.put("lost", "no room");
        LogLine line = roundTrip(LogEntry.of(1, Level.INFO, "m".repeat(1_900)).withFields(fields));

        assertThat(new ArrayList<>(line.fields().keySet())).containsExactly("z", "a", "big");
        assertThat(line.fields()).containsEntry("z", "1").containsEntry("a", "\uFFFD\"2");
        assertThat(line.message()).hasSize(1_900);
        assertThat(line.cut()).isTrue();
    }

    @Test
    void anyText_isStoredWithinTheBound_andReadBack() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<LogEntry> entries = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            Map<String, String> fields = new LinkedHashMap<>();
            for (int field = random.nextInt(6); field > 0; field--) {
                fields.put("f\u0001\"" + field + "\u20AC".repeat(random.nextInt(20)), text(random));
            }
            entries.add(LogEntry.of(random.nextInt(9), LEVELS.get(random.nextInt(5)), text(random))
                    .withFields(fields));
        }
        db.store.logs().append("any", entries);

        List<LogLine> lines =
                new ArrayList<>(db.store.logs().page("any", null, 500).lines());
        assertThat(lines).as("seed %d", seed).hasSize(500);
        for (LogLine line : lines) {
            LogEntry entry = entries.get((int) line.sequence());
            assertThat(line.level()).as("seed %d", seed).isEqualTo(entry.level());
            String clean = clean(entry.message());
            assertThat(clean).as("seed %d", seed).startsWith(line.message());
            if (!line.cut()) {
                assertThat(line.message()).as("seed %d", seed).isEqualTo(clean);
                assertThat(line.fields().keySet())
                        .as("seed %d", seed)
                        .isEqualTo(entry.fields().keySet());
            }
        }
        assertThat(db.dsl
                        .select(EXECUTION_JOB_LOG_ENTRIES.ENTRY)
                        .from(EXECUTION_JOB_LOG_ENTRIES)
                        .fetch(row -> row.value1().text().getBytes(StandardCharsets.UTF_8).length))
                .as("seed %d", seed)
                .allMatch(bytes -> bytes <= LogCodec.MAX_BYTES)
                .anyMatch(bytes -> bytes > LogCodec.MAX_BYTES - 40);
    }

    private static String clean(String text) {
        StringBuilder clean = new StringBuilder();
        text.codePoints().forEach(c -> clean.appendCodePoint(Messages.clean(c)));
        return clean.toString();
    }

    private static String text(Random random) {
        int kind = random.nextInt(4);
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(random.nextBoolean() ? 20 : 5_000); length > 0; length--) {
            switch (kind) {
                case 0 -> text.append((char) random.nextInt(128));
                case 1 -> text.append((char) random.nextInt(0x10000));
                case 2 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
                default -> text.append("\"\\\n\0x\u20AC".charAt(random.nextInt(6)));
            }
        }
        return text.toString();
    }
}
