package dev.millrace.types;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class JsonColumnTest {

    private static JobTable table;

    @BeforeAll
    static void connect(TestDatabase database) throws SQLException {
        table = new JobTable(database);
    }

    @AfterAll
    static void close() throws SQLException {
        table.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"nul\":\"a\\u0000b\",\"\\u0000\":0}",
                "{\"exact\":[1.00,1e400,-0,0.1000,123456789012345678901234567890.12345678901234567890]}",
                "{\"b\":1,\"a\":2,\"b\":3}",
                " { \"spaced\" : [ ] }\n",
                "\"quotes ' \\\" and \\\\ and ? and :name and {fn}\"",
                "\"\uD83D\uDE80 \\ud83d\\ude80\"",
                "\"\\ud83d\"",
                "null"
            })
    void json_isReadAsItWasWritten(String text) throws SQLException {
        JsonText json = JsonText.of(text);

        assertThat(table.writeAndRead(EXECUTION_JOBS.RECORD, json)).isEqualTo(json);
        assertThat(table.asPrinted("record")).isEqualTo(text);
    }

    @Test
    void randomJson_isReadAsItWasWritten() {
        Randoms randoms = Randoms.seeded();
        for (int i = 0; i < 200; i++) {
            JsonText json = JsonText.of(randomValue(randoms, 4));
            assertThat(table.writeAndRead(EXECUTION_JOBS.RECORD, json))
                    .as(randoms.describe(json))
                    .isEqualTo(json);
        }
    }

    /** A text that {@link JsonText} takes and PostgreSQL refuses would fail far from where it came from. */
    @Test
    void damagedJson_thatIsTaken_isTakenByTheServerToo() {
        Randoms randoms = Randoms.seeded();
        String alphabet = "{}[]\",:\\ 0123.eE+-truefalsn/\u0001\u0000";
        int taken = 0;
        for (int i = 0; i < 500; i++) {
            StringBuilder damaged = new StringBuilder(randomValue(randoms, 3));
            damaged.setCharAt(
                    randoms.random().nextInt(damaged.length()),
                    alphabet.charAt(randoms.random().nextInt(alphabet.length())));
            JsonText json = takenOrNull(damaged.toString());
            if (json != null) {
                taken++;
                assertThat(table.writeAndRead(EXECUTION_JOBS.RECORD, json))
                        .as(randoms.describe(json))
                        .isEqualTo(json);
            }
        }
        assertThat(taken).as(randoms.describe("texts that were taken")).isBetween(25, 475);
    }

    private static JsonText takenOrNull(String text) {
        try {
            return JsonText.of(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static String randomValue(Randoms randoms, int depth) {
        StringBuilder json = new StringBuilder();
        switch (randoms.random().nextInt(depth == 0 ? 4 : 6)) {
            case 0 -> json.append(randoms.random().nextBoolean() ? "true" : "null");
            case 1 -> json.append(randoms.random().nextLong());
            case 2 ->
                json.append(randoms.random().nextInt())
                        .append(".500e-")
                        .append(randoms.random().nextInt(400));
            case 3 -> json.append(randomString(randoms));
            case 4 -> {
                json.append('[');
                for (int n = randoms.random().nextInt(4), i = 0; i < n; i++) {
                    json.append(i > 0 ? ", " : "").append(randomValue(randoms, depth - 1));
                }
                json.append(']');
            }
            default -> {
                json.append('{');
                for (int n = randoms.random().nextInt(4), i = 0; i < n; i++) {
                    json.append(i > 0 ? "," : "").append(randomName(randoms)).append(" :");
                    json.append(randomValue(randoms, depth - 1));
                }
                json.append('}');
            }
        }
        return json.toString();
    }

    private static String randomName(Randoms randoms) {
        return randomString(
                randoms, List.of("a", "'", "\\\"", "\\\\", "\\u0000", "\\n", "ß", "\uD83D\uDE80", "?", "\u007f"));
    }

    private static String randomString(Randoms randoms) {
        return randomString(
                randoms, List.of("a", "'", "\\\"", "\\u0000", "\uD83D\uDE80", "{", "\\uD83D", "\\ud83d\\ude80"));
    }

    private static String randomString(Randoms randoms, List<String> parts) {
        StringBuilder string = new StringBuilder("\"");
        for (int length = randoms.random().nextInt(6); length > 0; length--) {
            string.append(parts.get(randoms.random().nextInt(parts.size())));
        }
        return string.append('"').toString();
    }
}
