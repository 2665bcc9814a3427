package dev.millrace.db;

import dev.millrace.db.MigrationException.Reason;
import dev.millrace.db.Migrations.Comparison;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a schema to the version that this release of the library needs.
 *
 * <pre>{@code
 * Migrator.of(dataSource).migrate();
 * }</pre>
 *
 * <p><b>What it does.</b> {@link #migrate()} creates the schema if it is absent (the role needs CREATE on the database
 * only then) and applies the migrations that are missing. All that it makes is in that schema, its history too, in the
 * table {@code millrace_schema_history}: an application's own Flyway history is not touched. A new schema is installed
 * in one transaction; later, each migration is one, together with its history entry. So nothing is ever left half done,
 * and calling it again is always safe.
 *
 * <p><b>Connections.</b> It takes one connection at a time from the data source, so a pool of one is enough, and gives
 * it back as it was. Nothing is set for longer than a transaction, and no session lock is taken, so it also works behind
 * a pooler in transaction mode (with {@code prepareThreshold=0} in the JDBC URL, as everything does there).
 *
 * <p><b>Waiting.</b> Nodes that start together take turns, and the rest find the work done; each waits for its turn up
 * to {@link #waitForOthers(Duration)}. A migration waits for a lock that another session holds up to
 * {@link #lockTimeout(Duration)}, then starts over, {@link #lockAttempts(int)} times in all.
 *
 * <p><b>Errors.</b> {@link MigrationException}, with a reason.
 *
 * <p>Instances are immutable and can be shared between threads.
 */
public final class Migrator {

    /** The schema that is used unless another one is named. */
    public static final String DEFAULT_SCHEMA = "millrace";

    private static final Logger LOG = LoggerFactory.getLogger(Migrator.class);

    private final Steps steps;
    private final Migrations migrations;
    private final Release release;

    private Migrator(Steps steps, Migrations migrations, Release release) {
        this.steps = steps;
        this.migrations = migrations;
        this.release = release;
    }

    /**
     * A migrator for the schema {@value #DEFAULT_SCHEMA}.
     *
     * @param dataSource gives connections to the database; each is closed after use
     * @return a migrator with default settings; it has not looked at the database yet
     */
    public static Migrator of(DataSource dataSource) {
        return of(dataSource, DEFAULT_SCHEMA);
    }

    /**
     * A migrator for that schema.
     *
     * @param dataSource gives connections to the database; each is closed after use
     * @param schema any PostgreSQL identifier of 1 to 63 bytes in UTF-8, taken as it is, upper and lower case told
     *     apart, such as {@code My-Jobs}; without NUL, double quotes or <code>${</code>, and not one of PostgreSQL's own
     * @return a migrator with default settings; it has not looked at the database yet
     * @throws InvalidSchemaNameException if the name is none of these
     */
    public static Migrator of(DataSource dataSource, String schema) {
        return of(dataSource, schema, List.of(Migrations.LOCATION), null);
    }

    /** For tests: a library that knows other migrations, or fewer. */
    static Migrator of(DataSource dataSource, String schema, List<String> locations, @Nullable String lastVersion) {
        return of(dataSource, schema, locations, lastVersion, Release.current());
    }

    /** For tests: a library of another release. */
    static Migrator of(
            DataSource dataSource,
            String schema,
            List<String> locations,
            @Nullable String lastVersion,
            Release release) {
        Objects.requireNonNull(dataSource, "dataSource");
        SchemaName name = new SchemaName(schema);
        return new Migrator(
                new Steps(dataSource, name, Duration.ofSeconds(10), 3, Duration.ofMinutes(5)),
                new Migrations(name, locations, lastVersion),
                release);
    }

    /**
     * How long one statement waits for a lock that another session holds. Default 10 s; allowed 1 ms to 1 h.
     *
     * @param timeout 1 ms to 1 h
     * @return a migrator with that setting
     */
    public Migrator lockTimeout(Duration timeout) {
        requireBetween("lockTimeout", timeout, Duration.ofMillis(1), Duration.ofHours(1));
        return new Migrator(
                new Steps(steps.dataSource(), steps.schema(), timeout, steps.lockAttempts(), steps.waitForOthers()),
                migrations,
                release);
    }

    /**
     * How often a step is tried that could not have a lock, or lost a deadlock. Default 3; allowed 1 to 100.
     *
     * @param attempts 1 to 100
     * @return a migrator with that setting
     */
    public Migrator lockAttempts(int attempts) {
        if (attempts < 1 || attempts > 100) {
            throw new IllegalArgumentException("lockAttempts is " + attempts + "; allowed are 1 to 100.");
        }
        return new Migrator(
                new Steps(steps.dataSource(), steps.schema(), steps.lockTimeout(), attempts, steps.waitForOthers()),
                migrations,
                release);
    }

    /**
     * How long to wait for another node that is migrating the same schema. Default 5 min; allowed 1 ms to 1 d.
     *
     * @param timeout 1 ms to 1 d
     * @return a migrator with that setting
     */
    public Migrator waitForOthers(Duration timeout) {
        requireBetween("waitForOthers", timeout, Duration.ofMillis(1), Duration.ofDays(1));
        return new Migrator(
                new Steps(steps.dataSource(), steps.schema(), steps.lockTimeout(), steps.lockAttempts(), timeout),
                migrations,
                release);
    }

    private static void requireBetween(String name, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(name + " is " + value + "; allowed are " + least + " to " + most + ".");
        }
    }

    /**
     * Compares the schema with this release, in a read-only transaction. It takes USAGE on the schema and SELECT on its
     * history and its table {@code controls}; where the schema is absent, nothing.
     *
     * @return how the schema compares with this release
     * @throws MigrationException if the database can't be read, or its history is not that of this library
     */
    public SchemaState state() {
        return compare().state();
    }

    /**
     * Applies what is missing; does nothing, with one look at the history, if that is all there. A schema that a newer
     * release has migrated is left as it is, and this one runs on with it, if the schema says that it may.
     *
     * @return what was done
     * @throws MigrationException if it can't, also when the schema says that this release is too old for it; nothing of
     *     the failed step is kept
     */
    public MigrationReport migrate() {
        Comparison before = compare();
        requireNotTooNew(before);
        int applied = 0;
        if (before.state().status() == SchemaState.Status.MISSING) {
            applied += apply(null);
        } else {
            for (String version : before.pending()) {
                applied += apply(version);
            }
        }
        Comparison after = before.pending().isEmpty() ? before : compare();
        requireNotTooNew(after);
        return report(before.state(), after.state(), applied);
    }

    private MigrationReport report(SchemaState before, SchemaState after, int applied) {
        String version = Objects.requireNonNull(after.version(), "the version of a migrated schema");
        if (applied > 0) {
            LOG.info(
                    "Migrated schema {} from {} to version {}",
                    schema().quoted(),
                    before.version() == null ? "nothing" : "version " + before.version(),
                    version);
        }
        if (after.status() == SchemaState.Status.NEWER) {
            LOG.info(
                    "Schema {} has version {}; this release of the library, {}, knows versions up to {}. It may go on to"
                            + " write, so the schema is used as it is.",
                    schema().quoted(),
                    version,
                    release.version(),
                    after.libraryVersion());
        }
        return new MigrationReport(schema().value(), before.version(), version, applied);
    }

    private Comparison compare() {
        Comparison comparison = steps.read(this::compare);
        if (comparison.difference() != null) {
            throw refusal(
                    Reason.HISTORY_DIFFERS,
                    "The history of schema " + schema().quoted() + " is not that of this library: "
                            + comparison.difference() + ". Released migrations never change: look for a modified"
                            + " library, an edited " + Migrations.HISTORY_TABLE + ", or a schema of something else.");
        }
        return comparison;
    }

    private Comparison compare(Steps.Step step) throws SQLException {
        requireUtf8(step.transaction());
        Comparison history = migrations.compare(step.transaction().forFlyway());
        String version = history.state().version();
        if (version == null) {
            return history;
        }
        SchemaFacts facts = SchemaFacts.read(step.transaction().connection(), schema());
        requireFactsThatFit(facts, version);
        return facts == null ? history : history.withOldestWriter(facts.oldestWriter(), release.version());
    }

    /** A schema that has been migrated as far as this release needs must say so: the store goes by what it says. */
    private void requireFactsThatFit(@Nullable SchemaFacts facts, String version) {
        if (Version.of(version).isOlderThan(release.schema())) {
            return;
        }
        if (facts == null) {
            throw SchemaFacts.unclear(
                    schema(), "its history says version " + version + ", but its table controls is not there", null);
        }
        if (facts.version().isOlderThan(release.schema())) {
            throw SchemaFacts.unclear(
                    schema(),
                    "its history says version " + version + ", but its table controls, row \"" + Release.SCHEMA_VERSION
                            + "\", says " + facts.version(),
                    null);
        }
    }

    /** Any other encoding lacks characters, so a job would be refused for what is in its payload or its name. */
    private void requireUtf8(OneTransaction transaction) {
        if (!transaction.encoding().equals("UTF8")) {
            String database = Identifiers.quoted(transaction.database());
            throw refusal(
                    Reason.NOT_UTF8,
                    "Database " + database + " has the encoding " + transaction.encoding()
                            + "; Millrace needs UTF8. An encoding can't be changed: create another database, with CREATE"
                            + " DATABASE .. ENCODING 'UTF8' TEMPLATE template0, and restore a dump of this one into it.");
        }
    }

    private void requireNotTooNew(Comparison comparison) {
        SchemaState state = comparison.state();
        if (state.status() == SchemaState.Status.TOO_NEW) {
            throw refusal(
                    Reason.SCHEMA_TOO_NEW,
                    "Schema " + schema().quoted() + " has version " + state.version() + " and is written by library"
                            + " version " + comparison.oldestWriter() + " and newer, but this is " + release.version()
                            + ", which knows versions of the schema up to " + state.libraryVersion()
                            + ". Nothing more is written. Upgrade the library of this process to "
                            + comparison.oldestWriter() + " or newer.");
        }
    }

    /** One step: the schema, if it is absent, and what is pending up to that version (null: everything). */
    private int apply(@Nullable String upTo) {
        return steps.write(step -> {
            step.now(Doing.CREATING);
            boolean created = createSchemaIfAbsent(step.transaction().connection());
            step.now(Doing.MIGRATING);
            int applied = migrations.apply(step.transaction().forFlyway(), created, upTo);
            step.transaction().commit();
            return applied;
        });
    }

    /** CREATE SCHEMA IF NOT EXISTS wants the privilege to create even where there is nothing to be created. */
    private boolean createSchemaIfAbsent(Connection connection) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ?)")) {
            statement.setString(1, schema().value());
            try (ResultSet row = statement.executeQuery()) {
                if (row.next() && row.getBoolean(1)) {
                    return false;
                }
            }
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA IF NOT EXISTS " + schema().quoted());
        }
        return true;
    }

    private SchemaName schema() {
        return steps.schema();
    }

    private MigrationException refusal(Reason reason, String message) {
        return new MigrationException(reason, schema().value(), message, null, null);
    }
}
