package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The least that can be done over JDBC: one narrow table. A claim marks jobs and commits, a completion deletes them and
 * commits, so no transaction is open while a handler runs. No retries, no recovery, nothing that is kept.
 */
final class FloorEngine implements Engine {
    private static final int IDLE_MILLIS = 20;
    private static final String INSERT = "INSERT INTO jobs (payload) VALUES (?)";
    private static final String INSERT_MANY = "INSERT INTO jobs (payload) SELECT unnest(?::text[])";
    static final String CLAIM = "UPDATE jobs SET claimed_at = now() WHERE id IN (SELECT id FROM jobs"
            + " WHERE claimed_at IS NULL ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED) RETURNING id, payload";
    private static final String COMPLETE = "DELETE FROM jobs WHERE id = ANY (?)";

    private final int batch;

    /** @param batch how many jobs are claimed and completed together */
    FloorEngine(int batch) {
        this.batch = batch;
    }

    @Override
    public void prepare(BenchDatabase database) throws SQLException {
        createTable(database);
    }

    static void createTable(BenchDatabase database) throws SQLException {
        database.execute("CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                + " payload text NOT NULL, claimed_at timestamptz) WITH (fillfactor = 70)");
    }

    @Override
    public Submitter submitter(PeerDatabase database) throws SQLException {
        return new Inserts(database.pool(1), "");
    }

    @Override
    public Working worker(PeerDatabase database, int concurrency, Recorder recorder) throws SQLException {
        return new Loops(database.workerPool(concurrency), concurrency, recorder);
    }

    /**
     * Inserts.
     *
     * @param end of each statement
     */
    record Inserts(HikariDataSource pool, String end) implements Submitter {
        @Override
        public void one(int index) throws SQLException {
            try (Connection connection = pool.getConnection();
                    PreparedStatement insert = connection.prepareStatement(INSERT + end)) {
                insert.setString(1, Payload.text(index));
                insert.execute();
            }
        }

        @Override
        public void many(int from, int to) throws SQLException {
            for (int begin = from; begin < to; begin += 1_000) {
                insert(begin, Math.min(to, begin + 1_000));
            }
        }

        private void insert(int from, int to) throws SQLException {
            Object[] payloads =
                    IntStream.range(from, to).mapToObj(Payload::text).toArray();
            try (Connection connection = pool.getConnection();
                    PreparedStatement insert = connection.prepareStatement(INSERT_MANY + end)) {
                insert.setArray(1, connection.createArrayOf("text", payloads));
                insert.execute();
            }
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    private final class Loops implements Working {
        private final HikariDataSource pool;
        private final int concurrency;
        private final Recorder recorder;
        private final ExecutorService threads;
        private final CountDownLatch stopped = new CountDownLatch(1);

        Loops(HikariDataSource pool, int concurrency, Recorder recorder) {
            this.pool = pool;
            this.recorder = recorder;
            this.concurrency = concurrency;
            this.threads = Executors.newFixedThreadPool(concurrency);
        }

        @Override
        public void start() {
            for (int thread = 0; thread < concurrency; thread++) {
                threads.execute(this::loop);
            }
        }

        private void loop() {
            try (Connection connection = pool.getConnection();
                    PreparedStatement claim = connection.prepareStatement(CLAIM);
                    PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
                claim.setInt(1, batch);
                long pause = 0;
                while (!stopped.await(pause, TimeUnit.MILLISECONDS)) {
                    pause = round(connection, claim, complete) ? 0 : IDLE_MILLIS;
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** False if there was nothing to do. */
        private boolean round(Connection connection, PreparedStatement claim, PreparedStatement complete)
                throws SQLException {
            List<Long> ids = new ArrayList<>();
            try (ResultSet jobs = claim.executeQuery()) {
                while (jobs.next()) {
                    ids.add(jobs.getLong(1));
                    recorder.ran(Payload.index(jobs.getString(2)));
                }
            }
            if (ids.isEmpty()) {
                return false;
            }
            complete.setArray(1, connection.createArrayOf("bigint", ids.toArray()));
            complete.executeUpdate();
            return true;
        }

        @Override
        public Submitter here() {
            return new Inserts(pool, "");
        }

        @Override
        public void close() {
            stopped.countDown();
            threads.shutdown();
            pool.close();
        }
    }
}
