package dev.millrace.store.postgres;

import dev.millrace.job.Checks;
import dev.millrace.store.JobSignals;
import dev.millrace.store.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.jooq.Field;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signals by NOTIFY, on a channel named after the schema. A statement that creates jobs sends them itself ({@link #sent}), so
 * they are delivered if and when its transaction commits, the caller's included. Equal ones of one transaction are one.
 */
final class PostgresJobSignals implements JobSignals {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresJobSignals.class);
    private static final String CHANNEL_PREFIX = "millrace:";
    private static final int MAX_CHANNEL_BYTES = 63;
    private static final int LONGEST_GOODBYE_MILLIS = 5_000;
    private static final String QUEUE = "queue:";
    private static final String PROBE = "probe:";

    private final Database database;
    private final @Nullable OwnConnections pool;
    private final String channel;

    /** @param pool null in a caller's transaction, whose connection is not ours to listen on */
    PostgresJobSignals(Database database, @Nullable OwnConnections pool, String schema) {
        this.database = database;
        this.pool = pool;
        this.channel = channel(schema);
    }

    /** PostgreSQL cuts longer names, where two could become one. */
    static String channel(String schema) {
        String readable = CHANNEL_PREFIX + schema;
        return readable.getBytes(StandardCharsets.UTF_8).length <= MAX_CHANNEL_BYTES
                ? readable
                : CHANNEL_PREFIX + UUID.nameUUIDFromBytes(schema.getBytes(StandardCharsets.UTF_8));
    }

    /** For RETURNING: says that a job has come into this queue. */
    static Field<?> sent(Field<String> channel, Field<String> queue) {
        return notify(channel, DSL.inline(QUEUE).concat(queue));
    }

    private static Field<?> notify(Field<String> channel, Field<String> payload) {
        return DSL.function(DSL.name("pg_catalog", "pg_notify"), SQLDataType.CLOB, channel, payload);
    }

    @Override
    public void probe(String token) {
        Checks.name("token", token);
        database.run(
                Operation.PROBE_SIGNALS,
                dsl -> dsl.select(notify(DSL.inline(channel), DSL.val(PROBE + token)))
                        .execute());
    }

    @Override
    public Listening listen() {
        OwnConnections connections = pool;
        if (connections == null) {
            throw new IllegalStateException("Nobody can listen in a caller's transaction: it would have to be committed"
                    + " first. Listen by a store of its own connections.");
        }
        Connection connection;
        try {
            connection = connections.acquire();
        } catch (DataAccessException e) {
            throw unavailable(e);
        }
        try {
            PGConnection notifications = connection.unwrap(PGConnection.class);
            PlainSql.listen(connection, channel);
            return new Connected(connections, connection, notifications);
        } catch (SQLException | RuntimeException e) {
            connections.discard(connection);
            connections.release(connection);
            throw unavailable(e);
        }
    }

    private static StoreUnavailableException unavailable(Exception cause) {
        return new StoreUnavailableException("Can't listen for jobs that come in: " + cause.getMessage(), cause);
    }

    private static final class Connected implements Listening {
        private final OwnConnections connections;
        private final Connection connection;
        private final PGConnection notifications;

        Connected(OwnConnections connections, Connection connection, PGConnection notifications) {
            this.connections = connections;
            this.connection = connection;
            this.notifications = notifications;
        }

        @Override
        public Heard await(Duration atMost) {
            Set<String> queues = new HashSet<>();
            Set<String> probes = new HashSet<>();
            try {
                PGNotification[] heard = notifications.getNotifications((int) Math.max(1, atMost.toMillis()));
                for (PGNotification one : heard == null ? new PGNotification[0] : heard) {
                    String what = one.getParameter();
                    if (what.startsWith(QUEUE)) {
                        queues.add(what.substring(QUEUE.length()));
                    } else if (what.startsWith(PROBE)) {
                        probes.add(what.substring(PROBE.length()));
                    }
                }
            } catch (SQLException | RuntimeException e) {
                connections.discard(connection);
                throw unavailable(e);
            }
            return new Heard(queues, probes);
        }

        /** A connection that may still listen must not go back to the pool. */
        @Override
        public void close() {
            try {
                if (!connection.isClosed()) {
                    int before = connection.getNetworkTimeout();
                    connection.setNetworkTimeout(Runnable::run, LONGEST_GOODBYE_MILLIS);
                    PlainSql.unlisten(connection);
                    connection.setNetworkTimeout(Runnable::run, before);
                }
            } catch (SQLException | RuntimeException e) {
                LOG.debug("A connection that listened is ended rather than given back.", e);
                connections.discard(connection);
            }
            connections.release(connection);
        }
    }
}
