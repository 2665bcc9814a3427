package dev.millrace.store.postgres;

import dev.millrace.jooq.MillraceSchema;
import dev.millrace.jooq.tables.Controls;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/**
 * Notes who was refused a statement for want of a privilege, and what that statement takes.
 *
 * <p>PostgreSQL names the table that a role may not use, but not the privilege that it lacks, and has nothing to say in a
 * transaction that has failed. So what is needed is read off the statement: its text has every name qualified and quoted, so
 * that a table of ours, and what is done to it, can't be mistaken for something else.
 */
final class Privileges implements ExecuteListener {
    private static final long serialVersionUID = 1L;

    /** The SQLSTATE insufficient_privilege. */
    static final String MISSING = "42501";

    private final String schema;

    Privileges(String schema) {
        this.schema = schema;
    }

    /** A refused statement. */
    static final class RefusedException extends DataAccessException {
        private static final long serialVersionUID = 1L;

        private final @Nullable String role;
        private final List<String> grants;

        RefusedException(@Nullable String role, List<String> grants, SQLException cause) {
            super(String.valueOf(cause.getMessage()), cause);
            this.role = role;
            this.grants = List.copyOf(grants);
        }

        /** The user that the session logged in as; null if that can't be told. */
        @Nullable
        String role() {
            return role;
        }

        /** What would let the role run the statement; empty if no grant would. */
        List<String> grants() {
            return grants;
        }
    }

    @Override
    public void exception(ExecuteContext context) {
        SQLException failure = context.sqlException();
        if (failure != null && MISSING.equals(failure.getSQLState())) {
            String role = user(context.connection());
            List<String> grants = isWantOfPrivilege(failure)
                    ? grants(String.valueOf(context.sql()), role == null ? "the role" : quoted(role))
                    : List.of();
            context.exception(new RefusedException(role, grants, failure));
        }
    }

    /** As the driver knows it: nothing is sent. */
    private static @Nullable String user(@Nullable Connection connection) {
        try {
            return connection == null ? null : connection.getMetaData().getUserName();
        } catch (SQLException e) {
            return null;
        }
    }

    /** Policies of row-level security and triggers refuse with the same state, but no privilege changes their mind. */
    private static boolean isWantOfPrivilege(SQLException failure) {
        if (failure instanceof PSQLException postgres && postgres.getServerErrorMessage() != null) {
            String routine = postgres.getServerErrorMessage().getRoutine();
            return routine == null || routine.startsWith("aclcheck_error");
        }
        return true;
    }

    private List<String> grants(String statement, String role) {
        List<String> grants = new ArrayList<>();
        grants.add("GRANT USAGE ON SCHEMA " + quoted(schema) + " TO " + role + ";");
        MillraceSchema.MILLRACE.tableStream().forEach(table -> {
            String name = quoted(schema) + "." + quoted(table.getName());
            // Every call reads the controls, though not in each of its statements.
            if (statement.contains(name) || table.equals(Controls.CONTROLS)) {
                grants.add("GRANT " + privileges(statement, name) + " ON " + name + " TO " + role + ";");
            }
        });
        return grants;
    }

    /** All that this statement takes on that table. One that writes also reads, in its conditions or its answer. */
    private static String privileges(String statement, String table) {
        List<String> privileges = new ArrayList<>(List.of("SELECT"));
        boolean inserts = statement.contains("insert into " + table);
        if (inserts) {
            privileges.add("INSERT");
        }
        boolean updates = statement.contains("update " + table) || (inserts && statement.contains("do update set"));
        if (updates || locks(statement, table)) {
            privileges.add("UPDATE");
        }
        if (statement.contains("delete from " + table)) {
            privileges.add("DELETE");
        }
        return privileges.stream().collect(Collectors.joining(", "));
    }

    /**
     * Whether it locks rows of that table, which takes UPDATE as well. Which of its tables a statement locks is not looked
     * for, but none locks the controls: it only asks them whether it may do anything.
     */
    private static boolean locks(String statement, String table) {
        return statement.contains(table)
                && (statement.contains("for no key update") || statement.contains("for update"))
                && !table.endsWith("." + quoted(Controls.CONTROLS.getName()));
    }

    private static String quoted(String name) {
        return DSL.name(name).quotedName().toString();
    }
}
