package dev.millrace.types;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.exception.DataAccessException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@MillraceDatabase
class StringListColumnTest {

    private static final List<String> SPECIAL = List.of(
            "\"",
            "'",
            "\\",
            ",",
            "{",
            "}",
            " ",
            "NULL",
            "null",
            "\n",
            "\t",
            "a",
            "ß",
            "\uD83D\uDE80",
            "$1",
            "?",
            "::",
            "[0:1]=");

    private static JobTable table;

    @BeforeAll
    static void connect(TestDatabase database) throws SQLException {
        table = new JobTable(database);
    }

    @AfterAll
    static void close() throws SQLException {
        table.close();
    }

    static Stream<List<String>> lists() {
        return Stream.of(
                List.of(),
                List.of(""),
                List.of("", ""),
                List.of("NULL", "null", " padded "),
                List.of("a,b", "{c}", "\"d\"", "e\\f", "it's", "\\\"", "\\\\"),
                SPECIAL);
    }

    @ParameterizedTest
    @MethodSource("lists")
    void list_isReadAsItWasWritten(List<String> list) throws SQLException {
        assertThat(table.writeAndRead(EXECUTION_JOBS.LOOKUP_KEYS, list)).isEqualTo(list);
        assertThat(table.asPrinted("cardinality(lookup_keys)")).isEqualTo(String.valueOf(list.size()));
    }

    @Test
    void randomList_isReadAsItWasWritten() {
        Randoms randoms = Randoms.seeded();
        for (int i = 0; i < 200; i++) {
            List<String> list = IntStream.range(0, randoms.random().nextInt(5))
                    .mapToObj(element -> randomString(randoms))
                    .toList();
            assertThat(table.writeAndRead(EXECUTION_JOBS.LOOKUP_KEYS, list))
                    .as(randoms.describe(list))
                    .isEqualTo(list);
        }
    }

    @Test
    void readList_cannotBeChanged() {
        List<String> list = table.writeAndRead(EXECUTION_JOBS.LOOKUP_KEYS, List.of("a"));

        assertThatThrownBy(() -> list.add("b")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void contains_findsTheRowsThatHaveAllElements() {
        table.writeAndRead(EXECUTION_JOBS.LOOKUP_KEYS, List.of("queue:A", "run:\"B\""));

        assertThat(table.dsl().fetchExists(EXECUTION_JOBS, EXECUTION_JOBS.LOOKUP_KEYS.contains(List.of("run:\"B\""))))
                .isTrue();
        assertThat(table.dsl()
                        .fetchExists(EXECUTION_JOBS, EXECUTION_JOBS.LOOKUP_KEYS.contains(List.of("queue:A", "run:B"))))
                .isFalse();
    }

    @Test
    void nullElement_isRefusedBothWays() throws SQLException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StringListConverter().to(Arrays.asList("a", null)))
                .withMessageContaining("Element 1");

        table.set("lookup_keys", "'{a,NULL}'");
        assertThatThrownBy(() -> table.read(EXECUTION_JOBS.LOOKUP_KEYS))
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .hasMessageContaining("Element 1 of a text array is null");
    }

    private static String randomString(Randoms randoms) {
        StringBuilder string = new StringBuilder();
        for (int length = randoms.random().nextInt(6); length > 0; length--) {
            string.append(SPECIAL.get(randoms.random().nextInt(SPECIAL.size())));
        }
        return string.toString();
    }
}
