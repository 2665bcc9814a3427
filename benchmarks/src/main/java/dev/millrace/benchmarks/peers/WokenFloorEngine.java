package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * The least that can be done over JDBC to begin a job when it is submitted: a thread listens, one claims, one runs jobs and
 * deletes them. The table and the claim are those of {@link FloorEngine}.
 */
final class WokenFloorEngine implements Engine {
    private static final int LISTEN_MILLIS = 500;
    private static final int END_SECONDS = 5;
    private static final String NOTIFY = " RETURNING pg_notify('floor', '')";
    private static final String COMPLETE = "DELETE FROM jobs WHERE id = ?";

    @Override
    public void prepare(BenchDatabase database) throws SQLException {
        FloorEngine.createTable(database);
    }

    @Override
    public Submitter submitter(PeerDatabase database) throws SQLException {
        return submitter(database.pool(1));
    }

    private static Submitter submitter(HikariDataSource pool) {
        return new FloorEngine.Inserts(pool, NOTIFY);
    }

    @Override
    public Working worker(PeerDatabase database, int concurrency, Recorder recorder) throws SQLException {
        return new Threads(database.workerPool(concurrency), recorder);
    }

    private static final class Threads implements Working {
        private final HikariDataSource pool;
        private final Recorder recorder;
        private final ExecutorService loops = Executors.newFixedThreadPool(2);
        private final ExecutorService handler = Executors.newSingleThreadExecutor();
        private final Semaphore wakeUps = new Semaphore(0);
        private volatile boolean stopped;

        Threads(HikariDataSource pool, Recorder recorder) {
            this.pool = pool;
            this.recorder = recorder;
        }

        @Override
        public void start() {
            loops.execute(this::listen);
            loops.execute(this::claim);
        }

        private void listen() {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("LISTEN floor");
                wakeUps.release(); // for jobs that were submitted before
                PGConnection notifications = connection.unwrap(PGConnection.class);
                while (!stopped) {
                    PGNotification[] some = notifications.getNotifications(LISTEN_MILLIS);
                    if (some != null && some.length > 0) {
                        wakeUps.release();
                    }
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        private void claim() {
            try (Connection connection = pool.getConnection();
                    PreparedStatement claim = connection.prepareStatement(FloorEngine.CLAIM)) {
                claim.setInt(1, 1);
                while (!stopped) {
                    wakeUps.acquire();
                    wakeUps.drainPermits();
                    while (!stopped && claimOne(claim)) {
                        // there may be another
                    }
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** False if there was nothing to do. */
        private boolean claimOne(PreparedStatement claim) throws SQLException {
            boolean found = false;
            try (ResultSet job = claim.executeQuery()) {
                while (job.next()) { // under some plans there are more than its LIMIT says
                    long id = job.getLong(1);
                    String payload = job.getString(2);
                    handler.execute(() -> run(id, payload));
                    found = true;
                }
            }
            return found;
        }

        private void run(long id, String payload) {
            recorder.ran(Payload.index(payload));
            try (Connection connection = pool.getConnection();
                    PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
                complete.setLong(1, id);
                complete.executeUpdate();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public Submitter here() {
            return submitter(pool);
        }

        @Override
        public void close() {
            stopped = true;
            wakeUps.release();
            end(loops);
            end(handler);
            pool.close();
        }

        private static void end(ExecutorService threads) {
            threads.shutdown();
            try {
                threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
