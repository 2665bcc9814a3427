package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;

import dev.millrace.job.Checks;
import dev.millrace.store.Controls;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Switches, as rows of the table of controls. One that is not there is off. */
final class PostgresControls implements Controls {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresControls.class);

    private static final int MAX_WHY = 2_000;

    private static final List<Field<?>> FIELDS =
            List.of(CONTROLS.NAME, CONTROLS.SET_BY, CONTROLS.REASON, CONTROLS.SET_AT);

    private final Database database;

    PostgresControls(Database database) {
        this.database = database;
    }

    // The hold.

    @Override
    public Hold hold(String by, @Nullable String why) {
        check("hold", by, why);
        return set(
                Operation.HOLD,
                null,
                HoldSwitch.NAME,
                by,
                why,
                PostgresControls::hold,
                "Claims and recovery are stopped");
    }

    @Override
    public Optional<Hold> release(String by) {
        Checks.id("release.by", by);
        Optional<Hold> released = clear(Operation.RELEASE_HOLD, null, HoldSwitch.NAME, PostgresControls::hold);
        released.ifPresent(hold ->
                LOG.warn("\"{}\" lets claims and recovery go on; they were on hold since {}.", by, hold.since()));
        return released;
    }

    @Override
    public Optional<Hold> held() {
        return database.run(Operation.HELD, dsl -> read(dsl, HoldSwitch.NAME).map(PostgresControls::hold));
    }

    private static Hold hold(Record row) {
        return new Hold(row.get(CONTROLS.SET_BY), row.get(CONTROLS.REASON), row.get(CONTROLS.SET_AT));
    }

    // Pauses.

    @Override
    public Pause pause(Scope scope, String by, @Nullable String why) {
        Checks.given("scope", scope);
        check("pause", by, why);
        return set(
                Operation.PAUSE,
                scope.name(),
                Pauses.name(scope),
                by,
                why,
                row -> pause(scope, row),
                "Claims from " + scope + " are stopped");
    }

    @Override
    public Optional<Pause> resume(Scope scope, String by) {
        Checks.given("scope", scope);
        Checks.id("resume.by", by);
        Optional<Pause> resumed = clear(Operation.RESUME, scope.name(), Pauses.name(scope), row -> pause(scope, row));
        resumed.ifPresent(pause -> LOG.warn("\"{}\" lets claims from {} go on.", by, pause.scope()));
        return resumed;
    }

    @Override
    public List<Pause> pauses() {
        List<Record> rows = database.run(
                Operation.PAUSES,
                dsl -> List.copyOf(dsl.select(FIELDS)
                        .from(CONTROLS)
                        .where(Pauses.rows())
                        .orderBy(CONTROLS.NAME)
                        .fetch()));
        List<Pause> pauses = new ArrayList<>();
        for (Record row : rows) {
            Scope scope = Pauses.scope(row.get(CONTROLS.NAME));
            if (scope != null) {
                pauses.add(pause(scope, row));
            }
        }
        pauses.sort(Comparator.comparing(pause -> pause.scope().type()));
        return pauses;
    }

    private static Pause pause(Scope scope, Record row) {
        return new Pause(scope, row.get(CONTROLS.SET_BY), row.get(CONTROLS.REASON), row.get(CONTROLS.SET_AT));
    }

    // Any switch.

    private static void check(String what, String by, @Nullable String why) {
        Checks.id(what + ".by", by);
        if (why != null) {
            Checks.text(what + ".why", why, MAX_WHY, MAX_WHY * 4);
        }
    }

    private <T> T set(
            Operation operation,
            @Nullable String subject,
            String name,
            String by,
            @Nullable String why,
            Function<Record, T> of,
            String what) {
        Record row = database.run(
                operation,
                subject,
                dsl -> Rounds.first(
                        () -> trySet(dsl, name, by, why, what),
                        "the switch was set by others and cleared again, or the transaction's snapshot can't see it; try"
                                + " again."));
        return of.apply(row);
    }

    /** The switch as it is in force, or null if it was there when it was to be set, and gone when it was to be read. */
    private static @Nullable Record trySet(DSLContext dsl, String name, String by, @Nullable String why, String what) {
        Record inserted = dsl.insertInto(CONTROLS)
                .set(CONTROLS.NAME, name)
                .set(CONTROLS.REASON, why)
                .set(CONTROLS.SET_BY, by)
                .set(CONTROLS.SET_AT, DbTime.STATEMENT)
                .onConflict(CONTROLS.NAME)
                .doNothing()
                .returningResult(FIELDS)
                .fetchOne();
        if (inserted != null) {
            LOG.warn("{} by \"{}\": {}", what, by, why);
            return inserted;
        }
        return read(dsl, name).orElse(null);
    }

    private <T> Optional<T> clear(Operation operation, @Nullable String subject, String name, Function<Record, T> of) {
        Condition row = CONTROLS.NAME.eq(name);
        Optional<Record> cleared = database.confirm(
                operation,
                subject,
                (dsl, repetition) ->
                        repetition.mayHaveHappened() ? clearWhatWasSetBefore(dsl, row, repetition) : clear(dsl, row));
        return cleared.map(of);
    }

    /** An earlier try may have cleared the switch, and another operator have set it since, which is to stay. */
    private static Optional<Record> clearWhatWasSetBefore(DSLContext dsl, Condition row, Repetition repetition) {
        Record there = dsl.select(CONTROLS.SET_AT)
                .select(DbTime.CLOCK.as("clock"))
                .from(CONTROLS)
                .where(row)
                .fetchOne();
        if (there == null) {
            return Optional.empty();
        }
        Instant setAt = there.get(CONTROLS.SET_AT);
        return setAt.isBefore(repetition.notBefore(there.get("clock", Instant.class)))
                ? clear(dsl, row.and(CONTROLS.SET_AT.eq(setAt)))
                : Optional.empty();
    }

    private static Optional<Record> clear(DSLContext dsl, Condition which) {
        return dsl.deleteFrom(CONTROLS).where(which).returningResult(FIELDS).fetchOptional(row -> row);
    }

    private static Optional<Record> read(DSLContext dsl, String name) {
        return dsl.select(FIELDS).from(CONTROLS).where(CONTROLS.NAME.eq(name)).fetchOptional(row -> row);
    }
}
