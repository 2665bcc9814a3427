package dev.millrace.types;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jooq.DataType;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.types.YearToSecond;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class DurationBindingTest {

    private static final DataType<Duration> DURATION = EXECUTION_JOBS.MAX_DURATION.getDataType();

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
                "PT0S",
                "PT3.001S",
                "PT0.000001S",
                "PT-0.000001S",
                "P45D",
                "P365D",
                "P730D",
                "PT-1H",
                "PT-1H-0.5S",
                "PT59.999999S",
                "PT23H59M59.999999S",
                "PT2147483647H",
                "PT-2147483647H"
            })
    void duration_isReadAsItWasWritten(Duration duration) {
        assertThat(table.writeAndRead(EXECUTION_JOBS.MAX_DURATION, duration)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "postgres_verbose", "sql_standard", "iso_8601"})
    void duration_inSessionOfAnyStyle_isReadAsItWasWritten(String style) throws SQLException {
        Randoms randoms = Randoms.seeded();
        table.setting("IntervalStyle", style);
        try {
            for (int i = 0; i < 100; i++) {
                Duration duration = randomDuration(randoms);
                assertThat(table.writeAndRead(EXECUTION_JOBS.MAX_DURATION, duration))
                        .as(randoms.describe(duration))
                        .isEqualTo(duration);
                assertThat(seconds(table.asPrinted("extract(epoch FROM max_duration)")))
                        .as(randoms.describe(duration))
                        .isEqualByComparingTo(seconds(duration));
            }
        } finally {
            table.setting("IntervalStyle", "postgres");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "postgres_verbose", "sql_standard", "iso_8601"})
    void interval_withDaysOfSomeoneElse_isReadWith24HoursADay(String style) throws SQLException {
        Randoms randoms = Randoms.seeded();
        table.setting("IntervalStyle", style);
        try {
            for (int i = 0; i < 50; i++) {
                int days = randoms.random().nextInt(-800, 800);
                Duration time = Duration.ofNanos(1_000 * randoms.random().nextLong(-90_000_000_000L, 90_000_000_000L));
                table.set("max_duration", "make_interval(days => " + days + ", secs => " + seconds(time) + ")");
                assertThat(table.read(EXECUTION_JOBS.MAX_DURATION))
                        .as(randoms.describe(days + " d " + time))
                        .isEqualTo(time.plusDays(days));
            }
        } finally {
            table.setting("IntervalStyle", "postgres");
        }
    }

    @Test
    void duration_finerThanMicroseconds_isCutTowardsZero() {
        assertThat(table.writeAndRead(EXECUTION_JOBS.MAX_DURATION, Duration.ofNanos(1_999)))
                .isEqualTo(Duration.ofNanos(1_000));
        assertThat(table.writeAndRead(EXECUTION_JOBS.MAX_DURATION, Duration.ofNanos(-1_999)))
                .isEqualTo(Duration.ofNanos(-1_000));
    }

    @Test
    void duration_addedToAnInstant_ignoresTheSessionsDaylightSaving() throws SQLException {
        Instant dayBefore = Instant.parse("2026-03-28T12:00:00Z");
        table.setting("TimeZone", "Europe/Berlin");
        try {
            table.writeAndRead(EXECUTION_JOBS.UPDATED_AT, dayBefore);
            assertThat(table.dsl()
                            .select(EXECUTION_JOBS.UPDATED_AT.add(DSL.val(Duration.ofDays(1), DURATION)))
                            .from(EXECUTION_JOBS)
                            .fetchSingle()
                            .value1())
                    .isEqualTo(dayBefore.plus(Duration.ofDays(1)));
        } finally {
            table.setting("TimeZone", "UTC");
        }
    }

    @Test
    void difference_ofInstants_isReadExactly() throws SQLException {
        table.set("updated_at", "'2026-03-01 00:00:00.000001+00'");
        table.set("expires_at", "'2028-03-01 00:00:00+00'");

        assertThat(table.dsl()
                        .select(EXECUTION_JOBS
                                .EXPIRES_AT
                                .sub(EXECUTION_JOBS.UPDATED_AT)
                                .coerce(DURATION))
                        .from(EXECUTION_JOBS)
                        .fetchSingle()
                        .value1())
                .isEqualTo(Duration.ofDays(731).minusNanos(1_000));
    }

    @Test
    void nullDuration_isNullBothWays() {
        assertThat(table.dsl()
                        .select(DSL.val((Duration) null, DURATION), DSL.inline((Duration) null, DURATION))
                        .fetchSingle()
                        .intoArray())
                .containsOnlyNulls();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 month", "2 years", "-1 month 30 days"})
    void interval_withMonths_isRefusedWithWhatToDo(String interval) throws SQLException {
        table.set("max_duration", "interval '" + interval + "'");

        assertThatThrownBy(() -> table.read(EXECUTION_JOBS.MAX_DURATION))
                .isInstanceOf(DataAccessException.class)
                .hasRootCauseInstanceOf(IllegalArgumentException.class)
                .rootCause()
                .hasMessageContaining("no fixed length")
                .hasMessageContaining("without years or months");
    }

    @Test
    void duration_outOfRange_isRefusedBeforeAnythingIsSent() {
        Duration before = table.read(EXECUTION_JOBS.MAX_DURATION);
        Duration tooLong = Microseconds.LONGEST.plusNanos(1);

        assertThatThrownBy(() -> table.dsl()
                        .update(EXECUTION_JOBS)
                        .set(EXECUTION_JOBS.MAX_DURATION, tooLong)
                        .execute())
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("out of range");
        assertThat(table.read(EXECUTION_JOBS.MAX_DURATION)).isEqualTo(before);
    }

    @Test
    void converter_ofJooqsOwnIntervalType_isExact() {
        Randoms randoms = Randoms.seeded();
        var converter = new DurationBinding().converter();
        for (int i = 0; i < 1_000; i++) {
            Duration duration = randomDuration(randoms);
            assertThat(converter.from(converter.to(duration)))
                    .as(randoms.describe(duration))
                    .isEqualTo(duration);
        }
        assertThatThrownBy(() -> converter.from(YearToSecond.valueOf("+1-0 +0 00:00:00.0")))
                .hasMessageContaining("no fixed length");
    }

    private static Duration randomDuration(Randoms randoms) {
        long magnitude = randoms.random().nextInt(2, 63);
        long micros = randoms.random().nextLong(-(1L << magnitude) + 1, 1L << magnitude);
        Duration duration = Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
        return duration.abs().compareTo(Microseconds.LONGEST) > 0 ? Microseconds.LONGEST : duration;
    }

    private static BigDecimal seconds(Duration duration) {
        return BigDecimal.valueOf(duration.getSeconds()).add(BigDecimal.valueOf(duration.getNano(), 9));
    }

    private static BigDecimal seconds(String printed) {
        return new BigDecimal(printed);
    }
}
