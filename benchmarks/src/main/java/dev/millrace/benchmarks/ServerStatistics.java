package dev.millrace.benchmarks;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * What the server counts of one database. Statements come from {@code pg_stat_statements} and WAL without full-page images
 * from {@code pg_walinspect}, which the embedded server has; where a given server lacks them, what needs them fails and says so.
 */
public final class ServerStatistics {
    /** Records of checkpoints, and of transactions that run, which the server writes for its replicas every 15 seconds. */
    private static final String NOT_OF_SESSIONS = "'XLOG', 'Standby'";

    private final BenchDatabase database;

    ServerStatistics(BenchDatabase database) {
        this.database = database;
    }

    /**
     * WAL of all databases of the server between two moments, without what the server writes from time to time whatever its
     * sessions do: checkpoints and what belongs to them.
     *
     * @param bytes all of it, without full-page images
     * @param fullPageBytes the images of pages that were changed for the first time since a checkpoint
     */
    public record Wal(long bytes, long fullPageBytes) {}

    /**
     * The same by what was written, without full-page images, and without checkpoints.
     *
     * @param rows versions of rows; marks and clearing away of old ones included
     * @param indexes entries of indexes, clearing away included
     * @param other commits, and so on
     */
    public record WalByKind(long rows, long indexes, long other) {}

    /**
     * Statements of one database between two moments.
     *
     * @param calls how many were executed
     * @param rows how many rows they returned or changed
     * @param buffers pages touched in shared memory, whether they had to be read or not
     * @param walBytes what they wrote themselves, full-page images included
     * @param millis how long they were executed, by the server's clock, planning not included
     * @param planMillis how long they were planned, in sessions that {@link #trackPlanning}; their buffers then count the
     *     pages that planning touches as well
     */
    public record Statements(long calls, long rows, long buffers, long walBytes, double millis, double planMillis) {}

    /**
     * Updates of a table between two moments, and what lies in it.
     *
     * @param updates rows that were updated
     * @param heapOnly those of them that needed no new entry in any index
     * @param deadRows rows that are dead and were not cleared away yet, as the server estimates
     */
    public record TableChanges(long updates, long heapOnly, long deadRows) {}

    /**
     * How large a table is.
     *
     * @param heap bytes of its rows
     * @param toast bytes of what lies outside of rows, its index included
     * @param indexes bytes of its indexes
     */
    public record TableSize(long heap, long toast, long indexes) {}

    /** {@return where the WAL ends now, as an LSN} */
    public String walPosition() throws SQLException {
        return database.text("SELECT pg_current_wal_insert_lsn()");
    }

    /**
     * {@return the WAL since then, full-page images included}
     *
     * @param position what {@link #walPosition()} has said before
     */
    public long walBytesSince(String position) throws SQLException {
        return database.number("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), ?::pg_lsn)::bigint", position);
    }

    /**
     * {@return the WAL since then, split; reads all of it}
     *
     * @param position what {@link #walPosition()} has said before
     */
    public Wal walSince(String position) throws SQLException {
        String end = walPosition();
        if (end.equals(position)) {
            return new Wal(0, 0);
        }
        String[] sums = walStatistics(
                        position,
                        "coalesce(sum(record_size) FILTER (WHERE name NOT IN (" + NOT_OF_SESSIONS + ")), 0)::bigint"
                                + " || ' ' || coalesce(sum(fpi_size), 0)::bigint")
                .split(" ", -1);
        return new Wal(Long.parseLong(sums[0]), Long.parseLong(sums[1]));
    }

    /**
     * {@return the WAL of one table, its indexes and its TOAST since then, split; reads all of it, by a function that PostgreSQL
     * has since 16}
     *
     * @param position what {@link #walPosition()} has said before
     * @param table which table
     */
    public Wal walSince(String position, String table) throws SQLException {
        String end = reached();
        String[] sums = database.text(
                        "WITH parts AS (SELECT oid, reltoastrelid FROM pg_class WHERE oid = ?::regclass), files AS (SELECT"
                                + " pg_relation_filenode(oid) AS file FROM parts UNION SELECT pg_relation_filenode(reltoastrelid)"
                                + " FROM parts UNION SELECT pg_relation_filenode(indexrelid) FROM pg_index, parts WHERE indrelid"
                                + " IN (oid, reltoastrelid)), records AS (SELECT max(record_length) AS length,"
                                + " sum(block_fpi_length) AS images FROM pg_get_wal_block_info(?::pg_lsn, ?::pg_lsn, false)"
                                + " JOIN files ON file = relfilenode WHERE reldatabase = (SELECT oid FROM pg_database WHERE datname ="
                                + " current_database()) GROUP BY start_lsn) SELECT coalesce(sum(length - images),"
                                + " 0)::bigint || ' ' || coalesce(sum(images), 0)::bigint FROM records",
                        table,
                        position,
                        end)
                .split(" ", -1);
        return new Wal(Long.parseLong(sums[0]), Long.parseLong(sums[1]));
    }

    /**
     * {@return the WAL since then by what was written; reads all of it}
     *
     * @param position what {@link #walPosition()} has said before
     */
    public WalByKind walByKindSince(String position) throws SQLException {
        String[] sums = walStatistics(
                        position,
                        "coalesce(sum(record_size) FILTER (WHERE name IN ('Heap', 'Heap2')), 0)::bigint || ' ' ||"
                                + " coalesce(sum(record_size) FILTER (WHERE name IN ('Btree', 'Gin')), 0)::bigint || ' '"
                                + " || coalesce(sum(record_size) FILTER (WHERE name NOT IN ('Heap', 'Heap2', 'Btree',"
                                + " 'Gin', " + NOT_OF_SESSIONS + ")), 0)::bigint")
                .split(" ", -1);
        return new WalByKind(Long.parseLong(sums[0]), Long.parseLong(sums[1]), Long.parseLong(sums[2]));
    }

    /** Where the WAL ends, once all before has reached the disk and can be read. */
    private String reached() throws SQLException {
        String end = walPosition();
        database.execute(
                "CREATE EXTENSION IF NOT EXISTS pg_walinspect",
                "SELECT pg_logical_emit_message(true, 'benchmarks', 'so that all before it has reached the disk')");
        return end;
    }

    private String walStatistics(String position, String sums) throws SQLException {
        String end = reached();
        return database.text(
                "SELECT " + sums
                        + " FROM pg_get_wal_stats(?::pg_lsn, ?::pg_lsn, false)"
                        + " AS statistics(name, count, count_share, record_size, record_share, fpi_size)",
                position,
                end);
    }

    /** Begins to count statements anew, in all databases. */
    public void resetStatements() throws SQLException {
        database.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements", "SELECT pg_stat_statements_reset()");
    }

    /**
     * {@return the statements since {@link #resetStatements()}, those aside by which this class asks}
     *
     * @param like what their text is like, such as {@code %execution_jobs%}, in terms of SQL's ILIKE
     */
    public Statements statements(String like) throws SQLException {
        String[] sums = database.text(
                        "SELECT coalesce(sum(calls), 0)::bigint || ' ' || coalesce(sum(rows), 0)::bigint || ' '"
                                + " || coalesce(sum(shared_blks_hit + shared_blks_read),"
                                + " 0)::bigint || ' ' || coalesce(sum(wal_bytes), 0)::bigint || ' '"
                                + " || coalesce(sum(total_exec_time), 0) || ' ' || coalesce(sum(total_plan_time), 0)"
                                + " FROM pg_stat_statements"
                                + " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
                                + " AND query !~ 'pg_(stat|current_wal|get_wal|logical_emit|relation_)' AND query ILIKE ?",
                        like)
                .split(" ", -1);
        return new Statements(
                Long.parseLong(sums[0]),
                Long.parseLong(sums[1]),
                Long.parseLong(sums[2]),
                Long.parseLong(sums[3]),
                Double.parseDouble(sums[4]),
                Double.parseDouble(sums[5]));
    }

    /**
     * Has a session report what it has done to tables, which it else does once a second at most.
     *
     * @param session with no transaction open
     */
    public static void flush(Connection session) throws SQLException {
        try (Statement statement = session.createStatement()) {
            statement.execute("SELECT pg_stat_force_next_flush()");
        }
        if (!session.getAutoCommit()) {
            session.rollback();
        }
    }

    /** {@return what was updated in a table since the database was made; the difference of two is what counts} */
    public TableChanges changes(String table) throws SQLException {
        String[] counts = database.text(
                        "SELECT n_tup_upd || ' ' || n_tup_hot_upd || ' ' || n_dead_tup FROM pg_stat_all_tables"
                                + " WHERE relid = ?::regclass",
                        table)
                .split(" ", -1);
        return new TableChanges(Long.parseLong(counts[0]), Long.parseLong(counts[1]), Long.parseLong(counts[2]));
    }

    /** {@return how large a table is} */
    public TableSize size(String table) throws SQLException {
        String[] sizes = database.text(
                        "SELECT pg_relation_size(oid) || ' ' || coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0)"
                                + " || ' ' || pg_indexes_size(oid) FROM pg_class WHERE oid = ?::regclass",
                        table)
                .split(" ", -1);
        return new TableSize(Long.parseLong(sizes[0]), Long.parseLong(sizes[1]), Long.parseLong(sizes[2]));
    }

    /**
     * Waits until what sessions have done is counted that have ended. Those that go on report what they have done to tables at
     * the end of a transaction if a second has passed since they did so, or when they have been idle for ten seconds.
     */
    public void awaitCounts() throws InterruptedException {
        Thread.sleep(1_500);
    }

    /**
     * Has the session of a pool of one connection report what it has done to tables.
     *
     * @param one the pool
     */
    public static void flush(DataSource one) throws SQLException {
        try (Connection connection = one.getConnection()) {
            flush(connection);
        }
    }

    /**
     * Has a session count its planning too, or not. Not for all sessions: where many of them run the same statement, that costs
     * more than it tells.
     */
    public static void trackPlanning(Connection session, boolean on) throws SQLException {
        try (Statement statement = session.createStatement()) {
            statement.execute("SET pg_stat_statements.track_planning = " + (on ? "on" : "off"));
        }
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "statistics of %s", database.jdbcUrl());
    }
}
