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
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/** What went wrong with a statement, by the state that PostgreSQL or the driver gives it, and how callers are told. */
final class Failure {
    enum Kind {
        /** Out of reach, starting, stopping, full or read-only: it passes by itself. */
        UNAVAILABLE,
        /** There is no such database, or the user is not let in: it doesn't pass by itself. */
        TURNED_AWAY,
        /** Serialization failures and deadlocks: nothing has happened, and the same may well succeed now. */
        ROLLED_BACK,
        /** The schema is not what it was. */
        NOT_READY,
        MISSING_PRIVILEGE,
        OTHER
    }

    private static final String READ_ONLY = "25006";
    private static final Set<String> UNAVAILABLE = Set.of(
            "57P01", // ended by an administrator
            "57P02", // another session crashed
            "57P03", // starting or stopping
            "57P05", // ended for being idle for long
            "53300", // too many connections
            READ_ONLY); // such as after a failover

    /** Classes: data, constraints, triggered data changes, external routines and what they raise, views, PL/pgSQL. */
    private static final Set<String> ABOUT_ROWS = Set.of("22", "23", "27", "38", "39", "44", "P0");

    private static final Set<String> ROLLED_BACK = Set.of("40001", "40P01");
    private static final Set<String> NOT_READY = Set.of("3F000", "42P01", "42703");
    private static final String NO_SUCH_DATABASE = "3D000";

    private final DataAccessException cause;
    private final @Nullable SQLException sql;
    private final String state;
    private final Kind kind;

    Failure(DataAccessException cause) {
        this.cause = cause;
        this.sql = cause.getCause(SQLException.class);
        this.state = sql == null || sql.getSQLState() == null ? "" : sql.getSQLState();
        this.kind = kindOf();
    }

    private Kind kindOf() {
        if (state.equals(Privileges.MISSING)) {
            return Kind.MISSING_PRIVILEGE;
        }
        if (state.startsWith("28") || state.equals(NO_SUCH_DATABASE)) {
            return Kind.TURNED_AWAY;
        }
        if (cause instanceof OwnConnections.NoConnectionException
                || sql instanceof SQLTransientConnectionException
                || sql instanceof SQLNonTransientConnectionException
                || state.startsWith("08")
                || UNAVAILABLE.contains(state)) {
            return Kind.UNAVAILABLE;
        }
        if (NOT_READY.contains(state)) {
            return Kind.NOT_READY;
        }
        return ROLLED_BACK.contains(state) ? Kind.ROLLED_BACK : Kind.OTHER;
    }

    Kind kind() {
        return kind;
    }

    /**
     * Whether the server has said that it refuses the statement, which so has done nothing. What it says as it ends the
     * session (class 57P), or when something is wrong with it, proves nothing: the commit may have come before. Neither
     * does what only the driver says.
     */
    boolean refused() {
        PSQLException said = cause.getCause(PSQLException.class);
        return said != null
                && said.getServerErrorMessage() != null
                && !state.startsWith("08")
                && !state.startsWith("57P")
                && !state.startsWith("58")
                && !state.startsWith("XX");
    }

    /**
     * Whether the server refuses the statement because of what is, or is to be, in its rows: a constraint or a trigger. Such
     * a statement may succeed without some of them; with all other errors there is no point in trying.
     */
    boolean isAboutRows() {
        return kind == Kind.OTHER && state.length() == 5 && ABOUT_ROWS.contains(state.substring(0, 2)) && refused();
    }

    /**
     * What the caller is told.
     *
     * @param own whether the transaction was ours, not a caller's
     */
    StoreException told(String what, String schema, boolean own, Repetition repetition) {
        String said = sql == null ? String.valueOf(cause.getMessage()) : String.valueOf(sql.getMessage());
        String tries = repetition.tries() == 1
                ? ""
                : ", " + repetition.tries() + " times in " + repetition.lasted().toMillis() + " ms";
        boolean mayHaveHappened = repetition.mayHaveHappened();
        return switch (kind) {
            case MISSING_PRIVILEGE -> missingPrivilege(what, said, mayHaveHappened);
            case UNAVAILABLE ->
                new StoreUnavailableException(
                        "Can't " + what + ": the database is not available" + tries + " (" + said + "). "
                                + (state.equals(READ_ONLY)
                                        ? "After a failover the same call may succeed later; otherwise check that neither"
                                                + " the data source nor the transaction is set read-only."
                                        : "Check that the server runs, accepts connections and is writable"
                                                + (cause instanceof OwnConnections.NoConnectionException
                                                        ? ", and that the data source has a connection to spare: a pool"
                                                                + " whose connections are all in use says the same"
                                                        : "")
                                                + "; the same call may succeed later."),
                        cause,
                        mayHaveHappened);
            case TURNED_AWAY ->
                new StoreUnavailableException(
                        "Can't " + what + ": the server does not let the data source in (" + said + "). "
                                + (state.equals(NO_SUCH_DATABASE)
                                        ? "Check the name of the database in the data source's URL, or create that database"
                                        : "Check user and password of the data source, and what pg_hba.conf says about them")
                                + "; once that is mended, the same call succeeds.",
                        cause,
                        mayHaveHappened);
            case NOT_READY ->
                new SchemaNotReadyException(
                        schema,
                        SchemaNotReadyException.Reason.MISSING,
                        "Can't " + what + ": the schema \"" + schema
                                + "\" is not there, or was changed under this process ("
                                + said
                                + "). If it was dropped, call Millrace.migrate() with a role that may create it; if a"
                                + " newer release has changed it, upgrade the library of this process.",
                        cause,
                        mayHaveHappened);
            case ROLLED_BACK ->
                new StoreException(
                        "Can't " + what + ": " + said + ". It was rolled back because of concurrent work"
                                + (own ? tries + "." : ". Repeat the whole transaction."),
                        cause,
                        mayHaveHappened);
            case OTHER -> new StoreException("Can't " + what + ": " + said, cause, mayHaveHappened);
        };
    }

    private MissingPrivilegeException missingPrivilege(String what, String said, boolean mayHaveHappened) {
        String role = null;
        List<String> grants = List.of();
        String advice;
        if (cause instanceof Privileges.RefusedException refused) {
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
        return new MissingPrivilegeException(
                role, grants, "Can't " + what + whose + ": " + said + advice, cause, mayHaveHappened);
    }
}
