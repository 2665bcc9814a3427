package dev.millrace.store.postgres;

import dev.millrace.store.MissingPrivilegeException;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
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
 * Where statements are sent to, and the one place where they pass the gate, and where a failed one is repeated or gets
 * its name. The schema's name is put in when a statement is rendered; of a caller's configuration only the connection is
 * used, so that none of its settings can change what our statements mean.
 */
final class Database {
    private static final Set<String> UNAVAILABLE = Set.of("57P01", "57P02", "57P03", "53300", "25006");
    private static final Set<String> NOT_READY = Set.of("3F000", "42P01", "42703");

    /** Serialization failures and deadlocks: nothing has happened, and the same may well succeed now. */
    private static final Set<String> ROLLED_BACK = Set.of("40001", "40P01");

    private static final int MAX_ATTEMPTS = 10;
    private static final long LONGEST_PAUSE_NANOS = 20_000_000;

    private final DSLContext dsl;
    private final String schema;
    private final SchemaGate gate;
    private final boolean own;

    /**
     * @param gate what each statement has to pass
     * @param own whether each statement is a transaction of ours, so that we may repeat it; a caller's transaction is
     *     the caller's to repeat
     */
    Database(ConnectionProvider connections, String schema, SchemaGate gate, boolean own) {
        this.own = own;
        this.schema = schema;
        this.gate = gate;
        this.dsl = DSL.using(new DefaultConfiguration()
                .set(connections)
                .set(SQLDialect.POSTGRES)
                .set(new Privileges(schema))
                .set(new Settings()
                        .withRenderCatalog(false)
                        .withExecuteLogging(false)
                        .withRenderMapping(new RenderMapping()
                                .withSchemata(
                                        new MappedSchema().withInput("millrace").withOutput(schema)))));
    }

    /** Runs the statements of an operation that has no subject. */
    <T extends @Nullable Object> T run(Operation operation, Function<DSLContext, T> statements) {
        return run(operation, null, statements);
    }

    /**
     * Runs the statements of an operation.
     *
     * @param subject what they are about, such as a job's id, for the message of a failure
     */
    <T extends @Nullable Object> T run(
            Operation operation, @Nullable String subject, Function<DSLContext, T> statements) {
        String what = operation.describe(subject);
        for (int attempt = 1; ; attempt++) {
            try {
                gate.pass(what, dsl);
                return statements.apply(dsl);
            } catch (DataAccessException e) {
                boolean changed = NOT_READY.contains(e.sqlState());
                if (changed) {
                    gate.close();
                }
                // A changed schema is asked once more: it may say why.
                boolean again = changed ? attempt == 1 : attempt < MAX_ATTEMPTS && ROLLED_BACK.contains(e.sqlState());
                if (!own || !again) {
                    throw failure(what, e);
                }
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_NANOS));
            }
        }
    }

    private StoreException failure(String what, DataAccessException e) {
        SQLException sql = e.getCause(SQLException.class);
        String state = sql == null || sql.getSQLState() == null ? "" : sql.getSQLState();
        String said = sql == null ? String.valueOf(e.getMessage()) : String.valueOf(sql.getMessage());
        if (state.equals(Privileges.MISSING)) {
            return missingPrivilege(what, said, e);
        }
        if (e instanceof OwnConnections.NoConnectionException
                || sql instanceof SQLTransientConnectionException
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
                    SchemaNotReadyException.Reason.MISSING,
                    "Can't " + what + ": the schema \"" + schema
                            + "\" is not there, or was changed under this process ("
                            + said
                            + "). If it was dropped, call Millrace.migrate() with a role that may create it; if a"
                            + " newer release has changed it, upgrade the library of this process.",
                    e);
        }
        if (ROLLED_BACK.contains(state)) {
            return new StoreException(
                    "Can't " + what + ": " + said + ". It was rolled back because of concurrent work"
                            + (own ? ", " + MAX_ATTEMPTS + " times in a row." : ". Repeat the whole transaction."),
                    e);
        }
        return new StoreException("Can't " + what + ": " + said, e);
    }

    private static MissingPrivilegeException missingPrivilege(String what, String said, DataAccessException failure) {
        String role = null;
        List<String> grants = List.of();
        String advice;
        if (failure instanceof Privileges.RefusedException refused) {
            role = refused.role();
            grants = refused.grants();
            advice = grants.isEmpty()
                    ? ". No grant would help: it was refused by a row-level security policy or a trigger, and Millrace's"
                            + " tables work with neither. Remove it."
                    : ". For this the role needs: " + String.join(" ", grants)
                            + " What else it may need is in docs/roles.md.";
        } else {
            advice = ". The user of the data source needs: GRANT CONNECT ON DATABASE .. TO ..;";
        }
        String whose = role == null ? "" : " as role \"" + role + "\"";
        return new MissingPrivilegeException(role, grants, "Can't " + what + whose + ": " + said + advice, failure);
    }
}
