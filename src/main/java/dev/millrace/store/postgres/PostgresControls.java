package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;

import dev.millrace.job.Checks;
import dev.millrace.store.Controls;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Switches, as rows of the table of controls. One that is not there is off. */
final class PostgresControls implements Controls {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresControls.class);

    private static final int MAX_WHY = 2_000;

    private static final Condition HOLD = CONTROLS.NAME.eq(DSL.inline(HoldSwitch.NAME));
    private static final List<Field<?>> FIELDS = List.of(CONTROLS.SET_BY, CONTROLS.REASON, CONTROLS.SET_AT);

    private final Database database;

    PostgresControls(Database database) {
        this.database = database;
    }

    @Override
    public Hold hold(String by, @Nullable String why) {
        Checks.id("hold.by", by);
        if (why != null) {
            Checks.text("hold.why", why, MAX_WHY, MAX_WHY * 4);
        }
        return database.run(
                Operation.HOLD,
                dsl -> Rounds.first(
                        () -> tryHold(dsl, by, why),
                        "the hold was set by others and released again, or the transaction's snapshot can't see it; try"
                                + " again."));
    }

    /** The hold that is in force, or null if it was there when it was to be set, and gone when it was to be read. */
    private static @Nullable Hold tryHold(DSLContext dsl, String by, @Nullable String why) {
        Record inserted = dsl.insertInto(CONTROLS)
                .set(CONTROLS.NAME, HoldSwitch.NAME)
                .set(CONTROLS.REASON, why)
                .set(CONTROLS.SET_BY, by)
                .set(CONTROLS.SET_AT, DbTime.STATEMENT)
                .onConflict(CONTROLS.NAME)
                .doNothing()
                .returningResult(FIELDS)
                .fetchOne();
        if (inserted != null) {
            LOG.warn("Claims and recovery are stopped by \"{}\": {}", by, why);
            return hold(inserted);
        }
        return read(dsl).orElse(null);
    }

    @Override
    public Optional<Hold> release(String by) {
        Checks.id("release.by", by);
        Optional<Hold> released = database.confirm(
                Operation.RELEASE_HOLD,
                null,
                (dsl, repetition) ->
                        repetition.mayHaveHappened() ? releaseWhatWasSetBefore(dsl, repetition) : release(dsl, HOLD));
        released.ifPresent(hold -> LOG.warn("\"{}\" lets claims and recovery go on: {}", by, hold));
        return released;
    }

    /** An earlier try may have released the hold, and another operator have set one since, which is to stay. */
    private static Optional<Hold> releaseWhatWasSetBefore(DSLContext dsl, Repetition repetition) {
        Record there = dsl.select(CONTROLS.SET_AT)
                .select(DbTime.CLOCK.as("clock"))
                .from(CONTROLS)
                .where(HOLD)
                .fetchOne();
        if (there == null) {
            return Optional.empty();
        }
        Instant setAt = there.get(CONTROLS.SET_AT);
        return setAt.isBefore(repetition.notBefore(there.get("clock", Instant.class)))
                ? release(dsl, HOLD.and(CONTROLS.SET_AT.eq(setAt)))
                : Optional.empty();
    }

    private static Optional<Hold> release(DSLContext dsl, Condition which) {
        return dsl.deleteFrom(CONTROLS).where(which).returningResult(FIELDS).fetchOptional(PostgresControls::hold);
    }

    @Override
    public Optional<Hold> held() {
        return database.run(Operation.HELD, PostgresControls::read);
    }

    private static Optional<Hold> read(DSLContext dsl) {
        return dsl.select(FIELDS).from(CONTROLS).where(HOLD).fetchOptional(PostgresControls::hold);
    }

    private static Hold hold(Record row) {
        return new Hold(row.get(CONTROLS.SET_BY), row.get(CONTROLS.REASON), row.get(CONTROLS.SET_AT));
    }
}
