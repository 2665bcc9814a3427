package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;

import dev.millrace.db.Release;
import dev.millrace.db.Version;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.SchemaNotReadyException.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * Lets statements through while the schema is one that this release may use. It asks the schema itself, in its table of
 * controls: before the first statement, and again before the first one that comes a minute or more after it last asked.
 * So a process that lives through an upgrade which it is too old for stops within a minute, and other statements cost no
 * round trip. One that is refused asks again each time, and so goes on as soon as the schema is ready.
 *
 * <p>It asks on the connection of the statement that is to follow, which may be a caller's, in the middle of a
 * transaction. There a table that is missing must not be found out by an error, which would end the transaction: so it
 * asks whether the table is there first. That makes two round trips, once a minute.
 *
 * <p>Nothing is locked: threads that come together ask each for themselves.
 */
final class SchemaGate {
    static final Duration VALID = Duration.ofMinutes(1);

    private final String schema;
    private final Release release;
    private final LongSupplier clock;

    /** When the schema was last asked with success, by the clock; null if never. */
    private volatile @Nullable Long passedAt;

    SchemaGate(String schema, Release release) {
        this(schema, release, System::nanoTime);
    }

    /** @param clock monotonic, in nanoseconds */
    SchemaGate(String schema, Release release, LongSupplier clock) {
        this.schema = schema;
        this.release = release;
        this.clock = clock;
    }

    /**
     * @param what what the statement does, for the message of a refusal
     * @throws SchemaNotReadyException if it may not pass
     */
    void pass(String what, DSLContext dsl) {
        long now = clock.getAsLong();
        Long last = passedAt;
        if (last != null && now - last < VALID.toNanos()) {
            return;
        }
        ask(what, dsl);
        passedAt = now;
    }

    /** The next statement asks again: the schema is not what it was. */
    void close() {
        passedAt = null;
    }

    private void ask(String what, DSLContext dsl) {
        if (!tableExists(dsl)) {
            throw refusal(
                    what,
                    Reason.MISSING,
                    "is not there, or is of a version before 5: it has no table controls. " + migrate(),
                    null);
        }
        Map<String, String> controls = dsl.select(CONTROLS.NAME, CONTROLS.VALUE)
                .from(CONTROLS)
                .where(CONTROLS.NAME.in(DSL.inline(Release.SCHEMA_VERSION), DSL.inline(Release.OLDEST_WRITER)))
                .fetchMap(CONTROLS.NAME, CONTROLS.VALUE);
        Version version = version(what, Release.SCHEMA_VERSION, controls);
        Version oldestWriter = version(what, Release.OLDEST_WRITER, controls);
        if (release.version().isOlderThan(oldestWriter)) {
            throw refusal(
                    what,
                    Reason.TOO_NEW,
                    "has version " + version + " and is written by library version " + oldestWriter
                            + " and newer, but this is " + release.version()
                            + ". Upgrade the library of this process to "
                            + oldestWriter + " or newer.",
                    null);
        }
        if (version.isOlderThan(release.schema())) {
            throw refusal(
                    what,
                    Reason.BEHIND,
                    "has version " + version + ", but this release of the library, " + release.version() + ", needs "
                            + release.schema() + ". " + migrate(),
                    null);
        }
    }

    /** Looked up by PostgreSQL's own rules, without an error if it is not there. */
    private boolean tableExists(DSLContext dsl) {
        String name = "\"" + schema.replace("\"", "\"\"") + "\".controls";
        Field<String> table = DSL.function(
                        DSL.name("pg_catalog", "to_regclass"), SQLDataType.CLOB, DSL.val(name, SQLDataType.CLOB))
                .cast(SQLDataType.CLOB);
        return dsl.select(table).fetchSingle().value1() != null;
    }

    private Version version(String what, String name, Map<String, String> controls) {
        String value = controls.get(name);
        if (value == null) {
            throw refusal(
                    what,
                    Reason.UNCLEAR,
                    "doesn't say whether this release may use it: its table controls has no value for \"" + name
                            + "\". Find out who changed that, and set it back; docs/upgrades.md says how.",
                    null);
        }
        try {
            return Version.of(value);
        } catch (IllegalArgumentException e) {
            throw refusal(
                    what,
                    Reason.UNCLEAR,
                    "doesn't say whether this release may use it: in its table controls, row \"" + name + "\", "
                            + e.getMessage()
                            + ". Find out who changed that row, and set it back; docs/upgrades.md says how.",
                    e);
        }
    }

    private static String migrate() {
        return "Call Millrace.migrate() in a process whose role may change the schema, or name the schema that was"
                + " migrated.";
    }

    private SchemaNotReadyException refusal(String what, Reason reason, String why, @Nullable Throwable cause) {
        return new SchemaNotReadyException(
                schema,
                reason,
                "Can't " + what + ": schema \"" + schema + "\" " + why + " Nothing was written.",
                cause,
                false);
    }
}
