package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Connections of another data source, before one of which something else happens: between two statements of a call. */
final class InterruptedSource extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final transient DataSource source;
    private final AtomicInteger left = new AtomicInteger();
    private final transient AtomicReference<Runnable> what = new AtomicReference<>(() -> {});

    InterruptedSource(DataSource source) {
        this.source = source;
    }

    /** @param number which connection from now on, the first is 1 */
    void before(int number, Runnable happens) {
        what.set(happens);
        left.set(number);
    }

    /** Whether it has happened. */
    boolean happened() {
        return left.get() <= 0;
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (left.decrementAndGet() == 0) {
            what.get().run();
        }
        return source.getConnection();
    }
}
