package dev.millrace.process;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/** Connects to a server that is away as soon as it is back: asks again and again, for a while. */
final class Knocking extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final long pause;
    private final long patience;

    Knocking(long everyMillis, long patienceMillis) {
        this.pause = TimeUnit.MILLISECONDS.toNanos(everyMillis);
        this.patience = TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    }

    @Override
    public Connection getConnection() throws SQLException {
        long start = System.nanoTime();
        while (true) {
            try {
                return super.getConnection();
            } catch (SQLException e) {
                if (System.nanoTime() - start >= patience) {
                    throw e;
                }
                LockSupport.parkNanos(pause);
            }
        }
    }
}
