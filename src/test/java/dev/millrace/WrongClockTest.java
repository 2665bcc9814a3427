package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.postgres.PostgresStore;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Where all tests run in a JVM whose clock is wrong: that it really is, and that the database's is not. */
@MillraceDatabase
@EnabledIfEnvironmentVariable(named = "MILLRACE_CLOCK_OFFSET", matches = ".+")
class WrongClockTest {
    private static final Duration TOLERANCE = Duration.ofMinutes(1);

    private final TestDatabase database;

    WrongClockTest(TestDatabase database) {
        this.database = database;
    }

    @Test
    void clockOfTheJvm_isAsFarOffFromTheDatabasesAsItIsToBe() {
        Duration wanted = Duration.parse(System.getenv("MILLRACE_CLOCK_OFFSET"));
        PostgresStore store = PostgresStore.on(database.dataSource(), database.schema());
        assertThat(Duration.between(store.clock().now(), Instant.now()))
                .isBetween(wanted.minus(TOLERANCE), wanted.plus(TOLERANCE));
    }

    @Test
    void zoneOfTheJvm_isTheOneThatItIsToBe() {
        assertThat(ZoneId.systemDefault()).isEqualTo(ZoneId.of(System.getenv("MILLRACE_CLOCK_ZONE")));
    }
}
