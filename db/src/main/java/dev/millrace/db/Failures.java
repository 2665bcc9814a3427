package dev.millrace.db;

import dev.millrace.db.MigrationException.Reason;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;

/** Turns a database's error into a {@link MigrationException} that says what to do. */
final class Failures {

    private static final String POOLER_ADVICE = " Behind a pooler in transaction mode, such as PgBouncer, add"
            + " prepareThreshold=0 to the JDBC URL, or connect to the server directly.";

    private Failures() {}

    /** Who was doing what, as far as it had come. */
    record Situation(
            Doing doing, @Nullable String role, @Nullable String database) {

        private String quotedRole() {
            return role == null ? "the role" : Identifiers.quoted(role);
        }

        private String quotedDatabase() {
            return database == null ? "the database" : Identifiers.quoted(database);
        }
    }

    static MigrationException translate(SchemaName schema, Situation situation, SQLException failure) {
        Reason reason = reasonOf(failure, situation.doing());
        String message = "Could not " + situation.doing().words() + " schema " + schema.quoted() + ": "
                + sentence(failure) + "." + advice(reason, schema, situation)
                + (isPreparedStatementTrouble(failure) ? POOLER_ADVICE : "");
        return new MigrationException(reason, schema.value(), message, failure.getSQLState(), failure);
    }

    private static boolean isPreparedStatementTrouble(SQLException failure) {
        return "42P05".equals(failure.getSQLState()) || "26000".equals(failure.getSQLState());
    }

    private static Reason reasonOf(SQLException failure, Doing doing) {
        String state = failure.getSQLState() == null ? "" : failure.getSQLState();
        if (state.equals("42501")) {
            return Reason.MISSING_PRIVILEGE; // also that to connect, which pools report as a passing failure
        }
        if (state.startsWith("08")
                || state.startsWith("57P")
                || state.equals("53300")
                || failure instanceof SQLTransientConnectionException) {
            return Reason.UNREACHABLE;
        }
        return switch (state) {
            case "55P03", "40P01" -> Reason.LOCK_NOT_OBTAINED;
            case "25006" -> Reason.READ_ONLY;
            default -> doing == Doing.CONNECTING && refused(state) ? Reason.UNREACHABLE : Reason.FAILED;
        };
    }

    /** The server's own refusals to let somebody in, and a pool's errors, which have no SQLSTATE. */
    private static boolean refused(String state) {
        return state.isEmpty() || state.startsWith("28") || state.equals("3D000");
    }

    private static String advice(Reason reason, SchemaName schema, Situation situation) {
        return switch (reason) {
            case UNREACHABLE ->
                " Check that the server runs and that the data source's address, user and password are"
                        + " right, then try again: nothing is left half done.";
            case MISSING_PRIVILEGE -> privilegeAdvice(schema, situation);
            case READ_ONLY -> " Connect to the primary, with a role whose sessions may write.";
            case LOCK_NOT_OBTAINED, SCHEMA_TOO_NEW, HISTORY_DIFFERS, NOT_UTF8, FAILED -> "";
        };
    }

    private static String privilegeAdvice(SchemaName schema, Situation situation) {
        String role = situation.quotedRole();
        String name = schema.quoted();
        return switch (situation.doing()) {
            case CONNECTING ->
                " It takes: GRANT CONNECT ON DATABASE " + situation.quotedDatabase() + " TO " + role + ";";
            case READING ->
                " It takes: GRANT USAGE ON SCHEMA " + name + " TO " + role + "; GRANT SELECT ON " + name + "."
                        + Migrations.HISTORY_TABLE + ", " + name + ".controls TO " + role + ";";
            case CREATING ->
                " Have an administrator run, once: CREATE SCHEMA " + name + " AUTHORIZATION " + role
                        + "; or let the role do it: GRANT CREATE ON DATABASE " + situation.quotedDatabase() + " TO "
                        + role + ";";
            case MIGRATING ->
                " Migrate as the role that owns the schema and its tables (see docs/roles.md). Only if all of it is to"
                        + " belong to " + role + ", and while the schema holds nothing of Millrace: GRANT USAGE, CREATE"
                        + " ON SCHEMA " + name + " TO " + role + ";";
        };
    }

    private static String sentence(SQLException failure) {
        String line =
                String.valueOf(failure.getMessage()).strip().lines().findFirst().orElse("");
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }
}
