package dev.millrace.types;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.stream.Stream;
import org.jooq.DataType;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class InstantBindingTest {

    private static final DataType<Instant> INSTANT = EXECUTION_JOBS.UPDATED_AT.getDataType();

    private static final List<String> ZONES =
            List.of("UTC", "Pacific/Apia", "Asia/Kathmandu", "America/New_York", "Etc/GMT+12");

    private static final List<Instant> EDGES = List.of(
            Microseconds.EARLIEST,
            Microseconds.LATEST,
            Instant.EPOCH,
            Instant.parse("-0044-03-15T12:00:00.000001Z"),
            Instant.parse("0000-12-31T23:59:59.999999Z"),
            Instant.parse("0001-01-01T00:00:00Z"),
            Instant.parse("1582-10-04T23:59:59.5Z"),
            Instant.parse("1969-12-31T23:59:59.999999Z"),
            // The day that Apia skipped, and the hour that New York repeats.
            Instant.parse("2011-12-30T10:00:00Z"),
            Instant.parse("2026-11-01T05:30:00Z"),
            Instant.parse("2026-11-01T06:30:00Z"),
            Instant.parse("+12345-06-07T08:09:10.123456Z"));

    private static final DateTimeFormatter SERVERS_FORMAT = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA)
            .appendPattern("-MM-dd HH:mm:ss.SSSSSS ")
            .appendText(ChronoField.ERA, Map.of(0L, "BC", 1L, "AD"))
            .toFormatter(Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private static JobTable table;

    @BeforeAll
    static void connect(TestDatabase database) throws SQLException {
        table = new JobTable(database);
    }

    @AfterAll
    static void close() throws SQLException {
        table.close();
    }

    static Stream<Arguments> zones() {
        return ZONES.stream().flatMap(jvm -> ZONES.stream().map(session -> Arguments.of(jvm, session)));
    }

    @ParameterizedTest(name = "JVM in {0}, session in {1}")
    @MethodSource("zones")
    void instant_inAnyZones_isReadAsItWasWritten(String jvm, String session, TestDatabase database)
            throws SQLException {
        Randoms randoms = Randoms.seeded();
        TimeZone original = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone(jvm));
        try (JobTable table = new JobTable(database)) {
            table.setting("TimeZone", session);
            for (Instant instant : EDGES) {
                assertIsReadAsWritten(table, instant, instant.toString());
            }
            for (int i = 0; i < 20; i++) {
                Instant instant = randomInstant(randoms);
                assertIsReadAsWritten(table, instant, randoms.describe(instant));
            }
        } finally {
            TimeZone.setDefault(original);
        }
    }

    private static void assertIsReadAsWritten(JobTable table, Instant instant, String description) throws SQLException {
        assertThat(table.writeAndRead(EXECUTION_JOBS.UPDATED_AT, instant))
                .as(description)
                .isEqualTo(instant);
        assertThat(table.asPrinted("to_char(updated_at AT TIME ZONE 'UTC', 'FMYYYY-MM-DD HH24:MI:SS.US BC')"))
                .as("%s, as the server has it", description)
                .isEqualTo(SERVERS_FORMAT.format(instant));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:59.9999999Z", "1969-12-31T23:59:59.9999999Z"
            })
    void instant_finerThanMicroseconds_isCutAndNotRounded(Instant instant) {
        assertThat(table.writeAndRead(EXECUTION_JOBS.UPDATED_AT, instant)).isEqualTo(Microseconds.truncate(instant));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1000000000-01-01T00:00:00Z",
                "-4713-12-31T23:59:59.999999Z",
                "+294277-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z"
            })
    void instant_outOfRange_isRefusedBeforeAnythingIsSent(Instant instant) {
        Instant before = table.read(EXECUTION_JOBS.UPDATED_AT);

        assertThatThrownBy(() -> table.dsl()
                        .update(EXECUTION_JOBS)
                        .set(EXECUTION_JOBS.UPDATED_AT, instant)
                        .execute())
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("out of range");
        assertThat(table.read(EXECUTION_JOBS.UPDATED_AT)).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"infinity", "-infinity"})
    void infinity_isRefusedOnReading(String value) throws SQLException {
        table.set("expires_at", "'" + value + "'");

        assertThatThrownBy(() -> table.read(EXECUTION_JOBS.EXPIRES_AT))
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the timestamp " + value + ",");
    }

    @Test
    void nullInstant_isNullBothWays() {
        assertThat(table.writeAndRead(EXECUTION_JOBS.CURRENT_PHASE, "phase")).isEqualTo("phase");
        table.dsl()
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.CLAIMED_AT, (Instant) null)
                .execute();

        assertThat(table.read(EXECUTION_JOBS.CLAIMED_AT)).isNull();
    }

    @Test
    void bindValue_isAPlainQuestionMark() {
        Instant now = Instant.parse("2026-03-01T12:00:00Z");

        assertThat(table.dsl().render(EXECUTION_JOBS.UPDATED_AT.lt(now))).endsWith("\"updated_at\" < ?");
        assertThat(table.dsl().render(DSL.select(DSL.val(now, INSTANT)))).isEqualTo("select ?");
    }

    @Test
    void bindValue_hasItsTypeWhereTheStatementGivesNone() {
        Instant now = Instant.parse("2026-03-01T12:00:00.000001Z");

        assertThat(table.dsl()
                        .select(DSL.coalesce(DSL.val((Instant) null, INSTANT), DSL.val(now, INSTANT)))
                        .fetchSingle()
                        .value1())
                .isEqualTo(now);
        assertThat(table.dsl()
                        .select(DSL.field(DSL.name("at"), INSTANT))
                        .from(DSL.values(DSL.row(DSL.val(now, INSTANT))).as("v", "at"))
                        .fetchSingle()
                        .value1())
                .isEqualTo(now);
    }

    private static Instant randomInstant(Randoms randoms) {
        long second = randoms.random()
                .nextLong(Microseconds.EARLIEST.getEpochSecond(), Microseconds.LATEST.getEpochSecond() + 1);
        return Instant.ofEpochSecond(second, 1_000L * randoms.random().nextInt(1_000_000));
    }
}
