package dev.millrace.store.postgres;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * Counts the deadlocks that the server has broken on the connections of a data source, whether or not whoever used them
 * has repeated the statement: of each deadlock one statement is the victim, and is told so.
 */
final class VictimCount {
    private static final String DEADLOCK = "40P01";

    private final AtomicInteger victims = new AtomicInteger();
    private final DataSource counted;

    VictimCount(DataSource pool) {
        this.counted = watched(DataSource.class, pool);
    }

    /** The same pool, watched. */
    DataSource dataSource() {
        return counted;
    }

    int victims() {
        return victims.get();
    }

    private <T> T watched(Class<T> type, T target) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            Object result = invoke(target, method, arguments);
            if (result instanceof PreparedStatement statement) {
                return watched(PreparedStatement.class, statement);
            }
            if (result instanceof Connection connection && type == DataSource.class) {
                return watched(Connection.class, connection);
            }
            return result;
        };
        return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SQLException failure && DEADLOCK.equals(failure.getSQLState())) {
                victims.incrementAndGet();
            }
            throw e.getCause();
        }
    }
}
