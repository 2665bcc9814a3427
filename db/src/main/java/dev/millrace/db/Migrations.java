package dev.millrace.db;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The library's migrations as Flyway sees them: the only class that knows Flyway.
 *
 * <p>Flyway is configured here and nowhere else. Its API reads no environment variables or files by itself, so an
 * application's own Flyway settings don't reach this one.
 */
final class Migrations {

    /** Inside the schema, so that it has nothing to do with an application's own history. */
    static final String HISTORY_TABLE = "millrace_schema_history";

    static final String LOCATION = "classpath:dev/millrace/db/migration";

    private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);

    private final SchemaName schema;
    private final List<String> locations;
    private final @Nullable String lastVersion;

    /**
     * @param lastVersion stops there, as if the library were older; null for all
     */
    Migrations(SchemaName schema, List<String> locations, @Nullable String lastVersion) {
        this.schema = schema;
        this.locations = List.copyOf(locations);
        this.lastVersion = lastVersion;
    }

    /** How the schema compares with the library, with what {@link Migrator} needs beyond {@link SchemaState}. */
    record Comparison(
            SchemaState state,
            List<String> pending,
            @Nullable String difference,
            @Nullable Version oldestWriter) {

        /** The same, where the schema says that releases from this one on may write. */
        Comparison withOldestWriter(Version oldest, Version own) {
            SchemaState seen = own.isOlderThan(oldest) ? state.with(SchemaState.Status.TOO_NEW) : state;
            return new Comparison(seen, pending, difference, oldest);
        }
    }

    Comparison compare(DataSource dataSource) throws SQLException {
        try {
            return compare(configure(dataSource).load().info().all());
        } catch (FlywayException e) {
            throw withoutFlyway(e);
        }
    }

    private Comparison compare(MigrationInfo[] all) {
        String applied = null;
        String known = "0";
        boolean newer = false;
        String difference = null;
        List<String> pending = new ArrayList<>();
        for (MigrationInfo migration : all) {
            MigrationState state = migration.getState();
            String version = String.valueOf(migration.getVersion());
            switch (state) {
                case PENDING -> pending.add(version);
                case SUCCESS, FUTURE_SUCCESS -> applied = version;
                case ABOVE_TARGET, BASELINE -> {
                    continue;
                }
                default -> difference = "version " + version + " is " + state.getDisplayName();
            }
            if (state == MigrationState.FUTURE_SUCCESS) {
                newer = true;
            } else {
                known = version;
            }
            if (state == MigrationState.SUCCESS && !migration.isChecksumMatching()) {
                difference =
                        "version " + version + " was applied with another checksum, " + migration.getAppliedChecksum();
            }
        }
        SchemaState.Status status = newer
                ? SchemaState.Status.NEWER
                : applied == null
                        ? SchemaState.Status.MISSING
                        : pending.isEmpty() ? SchemaState.Status.CURRENT : SchemaState.Status.BEHIND;
        return new Comparison(
                new SchemaState(schema.value(), status, applied, known, pending.size()),
                List.copyOf(pending),
                difference,
                null);
    }

    /**
     * Applies what is pending up to that version, or all of it (null); returns how many that were. A schema that holds
     * tables of others already is no obstacle: Flyway then notes in its history that it began with version 0.
     */
    int apply(DataSource dataSource, boolean schemaIsNew, @Nullable String upTo) throws SQLException {
        try {
            FluentConfiguration configuration =
                    configure(dataSource).baselineOnMigrate(!schemaIsNew).baselineVersion("0");
            if (upTo != null) {
                configuration.target(MigrationVersion.fromVersion(upTo));
            }
            return configuration.load().migrate().migrationsExecuted;
        } catch (FlywayException e) {
            throw withoutFlyway(e);
        }
    }

    private FluentConfiguration configure(DataSource dataSource) {
        FluentConfiguration configuration = Flyway.configure(Migrator.class.getClassLoader())
                .dataSource(dataSource)
                .locations(locations.toArray(String[]::new))
                .failOnMissingLocations(true)
                .validateMigrationNaming(true)
                .schemas(schema.value())
                .defaultSchema(schema.value())
                .createSchemas(false)
                .table(HISTORY_TABLE)
                .placeholders(Map.of("schema", schema.quoted()))
                .loggers("slf4j") // by default it writes to java.util.logging where SLF4J has no provider
                .skipDefaultCallbacks(true)
                .cleanDisabled(true);
        return lastVersion == null ? configuration : configuration.target(MigrationVersion.fromVersion(lastVersion));
    }

    /**
     * The database's error with the name of the script, or else Flyway's words alone. Flyway's classes are no part of
     * this library's API, not even as a cause.
     */
    private static SQLException withoutFlyway(FlywayException failure) {
        LOG.debug("Flyway failed", failure);
        String summary = firstLine(failure);
        SQLException outermost = null;
        SQLException innermost = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                outermost = outermost == null ? sql : outermost;
                innermost = sql;
            }
        }
        if (innermost == null) {
            return new SQLException(summary);
        }
        // Where a failed transaction is used on, the driver adds as a cause what had made it fail. That is what counts
        // then, and Flyway's words are about something else.
        String message = innermost == outermost ? summary + ": " + firstLine(innermost) : firstLine(innermost);
        return new SQLException(message, innermost.getSQLState(), innermost);
    }

    private static String firstLine(Exception failure) {
        return String.valueOf(failure.getMessage()).strip().lines().findFirst().orElse("");
    }
}
