package dev.millrace.store.postgres;

import dev.millrace.store.MissingPrivilegeException;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.function.Function;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultConfiguration;
import org.jspecify.annotations.Nullable;

/**
 * Where statements are sent to, and the one place where a failed one gets its name. The schema's name is put in when a
 * statement is rendered; of a caller's configuration only the connection is used, so that none of its settings can
 * change what our statements mean.
 */
final class Database {
    private static final Set<String> UNAVAILABLE = Set.of("57P01", "57P02", "57P03", "53300", "25006");
    private static final Set<String> NOT_READY = Set.of("3F000", "42P01", "42703");

    private final DSLContext dsl;
    private final String schema;

    Database(ConnectionProvider connections, String schema) {
        this.schema = schema;
        this.dsl = DSL.using(new DefaultConfiguration()
                .set(connections)
                .set(SQLDialect.POSTGRES)
                .set(new Settings()
                        .withRenderCatalog(false)
                        .withExecuteLogging(false)
                        .withRenderMapping(new RenderMapping()
                                .withSchemata(
                                        new MappedSchema().withInput("millrace").withOutput(schema)))));
    }

    /**
     * Runs statements.
     *
     * @param what what they do, for the message of a failure, such as {@code "claim jobs"}
     */
    <T extends @Nullable Object> T run(String what, Function<DSLContext, T> statements) {
        try {
            return statements.apply(dsl);
        } catch (DataAccessException e) {
            throw failure(what, e);
        }
    }

    private StoreException failure(String what, DataAccessException e) {
        SQLException sql = e.getCause(SQLException.class);
        String state = sql == null || sql.getSQLState() == null ? "" : sql.getSQLState();
        String said = sql == null ? String.valueOf(e.getMessage()) : String.valueOf(sql.getMessage());
        if (sql instanceof SQLTransientConnectionException
                || sql instanceof SQLNonTransientConnectionException
                || state.startsWith("08")
                || UNAVAILABLE.contains(state)) {
            return new StoreUnavailableException(
                    "Can't " + what + ": the database is not available (" + said
                            + "). Check that the server runs, accepts"
                            + " connections and is writable; the same call may succeed later.",
                    e);
        }
        if (NOT_READY.contains(state)) {
            return new SchemaNotReadyException(
                    schema,
                    "Can't " + what + ": the schema \"" + schema + "\" is not there or not of this release (" + said
                            + "). Expected are Millrace's tables in it: call Millrace.migrate() with a role that may"
                            + " create them, or name the schema that has them.",
                    e);
        }
        if (state.equals("42501")) {
            return new MissingPrivilegeException(
                    "Can't " + what + ": " + said + ". Grant the role USAGE on schema \"" + schema
                            + "\" and SELECT, INSERT, UPDATE and DELETE on its tables.",
                    e);
        }
        return new StoreException("Can't " + what + ": " + said, e);
    }
}
