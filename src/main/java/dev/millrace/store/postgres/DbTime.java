package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import java.time.Duration;
import java.time.Instant;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.impl.DSL;

/**
 * The database's time, as fields. {@link #STATEMENT} is when the statement arrived: right where nothing is waited for,
 * in a transaction of our own (where it is {@code now()}) and in a caller's. {@link #CLOCK} is when it is evaluated;
 * {@link #LOCKED} is that after a row lock was waited for.
 */
final class DbTime {
    static final DataType<Instant> INSTANT = EXECUTION_JOBS.UPDATED_AT.getDataType();
    static final DataType<Duration> DURATION = EXECUTION_JOBS.MAX_DURATION.getDataType();

    static final Field<Instant> STATEMENT = DSL.function(DSL.name("pg_catalog", "statement_timestamp"), INSTANT);
    static final Field<Instant> CLOCK = DSL.function(DSL.name("pg_catalog", "clock_timestamp"), INSTANT);

    /** What the clock said once the rows of a {@link RowLock} were locked; the same for all that the statement writes. */
    static final Field<Instant> LOCKED = DSL.field(DSL.name("locked", "now"), INSTANT);

    private DbTime() {}

    static Field<Instant> plus(Field<Instant> time, Duration duration) {
        return time.add(DSL.val(duration, DURATION));
    }

    static Field<Instant> minus(Field<Instant> time, Field<Duration> duration) {
        return time.sub(duration);
    }
}
