package dev.millrace.store.postgres;

import dev.millrace.store.StoreClock;
import java.time.Instant;

/** The database's clock. */
final class PostgresStoreClock implements StoreClock {
    private final Database database;

    PostgresStoreClock(Database database) {
        this.database = database;
    }

    @Override
    public Instant now() {
        return database.run(
                Operation.CLOCK, dsl -> dsl.select(DbTime.CLOCK).fetchSingle().value1());
    }
}
