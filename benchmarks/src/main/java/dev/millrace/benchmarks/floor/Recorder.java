package dev.millrace.benchmarks.floor;

import dev.millrace.benchmarks.CheckFailedException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to what the library asks of a connection: the text of its last statement and what it binds. So what is written by
 * hand here stays the same SQL, whatever becomes of the library's.
 */
final class Recorder {
    /**
     * What was bound.
     *
     * @param setter the method of {@link PreparedStatement} that took it
     * @param position from 1
     * @param value the value; of an array, its elements' type and the elements
     */
    record Bind(
            String setter,
            int position,
            @Nullable Object value,
            @Nullable Object more) {}

    /** A statement as it was sent. */
    record Recorded(String sql, List<Bind> binds) {}

    private String sql = "";
    private final List<Bind> binds = new ArrayList<>();

    private Recorder() {}

    /**
     * {@return the last statement of what is done}
     *
     * @param connection not in auto-commit mode; rolled back
     * @param deed what to do on a connection
     */
    static Recorded record(Connection connection, Consumer<Connection> deed) throws SQLException {
        Recorder recorder = new Recorder();
        deed.accept(recorder.connection(connection));
        connection.rollback();
        if (recorder.binds.isEmpty()) {
            throw new CheckFailedException("Nothing was bound in what was to be recorded: " + recorder.sql);
        }
        return new Recorded(recorder.sql, List.copyOf(recorder.binds));
    }

    private Connection connection(Connection target) {
        return proxy(Connection.class, (self, method, arguments) -> {
            Object result = invoke(target, method, arguments);
            if (result instanceof PreparedStatement statement && arguments[0] instanceof String text) {
                sql = text;
                binds.clear();
                return statement(statement);
            }
            return result;
        });
    }

    private PreparedStatement statement(PreparedStatement target) {
        return proxy(PreparedStatement.class, (self, method, arguments) -> {
            if (method.getName().startsWith("set")
                    && arguments.length > 1
                    && arguments[0] instanceof Integer position) {
                binds.add(bind(method.getName(), position, arguments));
            }
            return invoke(target, method, arguments);
        });
    }

    private static Bind bind(String setter, int position, Object[] arguments) throws SQLException {
        Object value = arguments[1];
        return value instanceof Array array
                ? new Bind(setter, position, array.getBaseTypeName(), array.getArray())
                : new Bind(setter, position, value, arguments.length > 2 ? arguments[2] : null);
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
