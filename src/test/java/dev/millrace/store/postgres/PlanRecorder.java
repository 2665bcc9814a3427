package dev.millrace.store.postgres;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.devdb.TestDatabase;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.opentest4j.TestAbortedException;

/**
 * A connection whose statements come with the plan by which each was carried out. Nothing is explained separately: the
 * server's module {@code auto_explain} reports on the very execution, so text, binds, and whether the plan was made for
 * the values or once for all, are those of the statement itself. Everything happens in one transaction, to be rolled back.
 */
final class PlanRecorder implements AutoCloseable {
    /** How the server plans prepared statements. */
    enum Mode {
        /** For the values of each execution. */
        CUSTOM("force_custom_plan"),
        /** Once for all values. */
        GENERIC("force_generic_plan"),
        /** As it thinks best, which after five executions may be once for all. */
        AUTO("auto");

        private final String setting;

        Mode(String setting) {
            this.setting = setting;
        }
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PLAN = "plan:\n";

    /** A plan is reported when its statement is put away, which a transaction does at the next one. */
    private static final String NEXT = "SELECT 'next'";

    private final Connection connection;
    private final Connection recording;
    private final List<Plan> plans = new ArrayList<>();

    PlanRecorder(TestDatabase database, Mode mode) throws SQLException {
        connection = database.adminDataSource().getConnection();
        recording = proxy(Connection.class, connection);
        try (Statement statement = connection.createStatement()) {
            try {
                statement.execute("LOAD 'auto_explain'");
            } catch (SQLException e) {
                connection.close();
                throw new TestAbortedException("Plans can't be seen here: " + e.getMessage(), e);
            }
            for (String setting : List.of(
                    "auto_explain.log_min_duration = 0",
                    "auto_explain.log_analyze = on",
                    "auto_explain.log_buffers = on",
                    "auto_explain.log_wal = on",
                    "auto_explain.log_timing = off",
                    "auto_explain.log_format = json",
                    "auto_explain.log_level = notice",
                    "client_min_messages = notice",
                    "plan_cache_mode = " + mode.setting)) {
                statement.execute("SET " + setting);
            }
        }
        connection.setAutoCommit(false);
    }

    Connection connection() {
        return recording;
    }

    /** What was recorded since the last time. */
    List<Plan> take() {
        List<Plan> taken = List.copyOf(plans);
        plans.clear();
        return taken;
    }

    /** Undoes what was done, and goes on in another transaction. */
    void rollback() throws SQLException {
        connection.rollback();
    }

    @Override
    public void close() throws SQLException {
        connection.rollback();
        connection.close();
    }

    private <T> T proxy(Class<T> type, Object target) {
        InvocationHandler handler = (self, method, arguments) -> {
            Object result = invoke(target, method, arguments);
            if (result instanceof PreparedStatement statement) {
                return proxy(PreparedStatement.class, statement);
            }
            if (target instanceof PreparedStatement statement
                    && method.getName().startsWith("execute")) {
                read(statement.getWarnings());
                try (Statement next = connection.createStatement()) {
                    next.execute(NEXT);
                    read(next.getWarnings());
                }
            }
            return result;
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private void read(SQLWarning first) throws JsonProcessingException {
        for (SQLWarning warning = first; warning != null; warning = warning.getNextWarning()) {
            String message = warning.getMessage();
            int at = message.indexOf(PLAN);
            if (at >= 0) {
                Plan plan = new Plan(JSON.readTree(message.substring(at + PLAN.length())));
                if (!plan.text().equals(NEXT) && plan.isTheOperations()) {
                    plans.add(plan);
                }
            }
        }
    }
}
