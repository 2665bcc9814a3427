package dev.millrace.devdb;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A network between clients and a PostgreSQL server that fails at a chosen point, for tests of what then becomes of a
 * statement.
 *
 * <pre>{@code
 * try (FaultyProxy proxy = FaultyProxy.before(database)) {
 *     DataSource source = proxy.dataSource();
 *     proxy.inject(Fault.cutBeforeReply().onStatement("insert into"));
 *     // The next insert is committed, and its client is not told.
 * }
 * }</pre>
 *
 * <p>It listens on the loopback interface and understands as much of PostgreSQL's protocol as it must to know where a
 * request ends. So both sides are unencrypted: {@link #dataSource()} sees to that, and a server that insists on encryption
 * can't be reached through it. Works in front of a PgBouncer as well, where what fails is the way to that.
 *
 * <p>Safe for use by many threads; its own are daemons.
 */
public final class FaultyProxy implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FaultyProxy.class);

    private static final int MAX_PORTS = 10;

    private final InetSocketAddress server;
    private final Coordinates target;
    private final int port;
    private final Set<ProxiedConnection> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition settled = lock.newCondition();
    private final List<Injected> injected = new ArrayList<>();
    private @Nullable ServerSocket listener;
    private @Nullable Thread acceptor;
    private int struck;
    private int held;
    private boolean closed;

    /** A fault, and how much of it is left. Guarded by the lock. */
    private static final class Injected {
        private final Fault fault;
        private int toSkip;
        private int toStrike;

        Injected(Fault fault) {
            this.fault = fault;
            this.toSkip = fault.skipped();
            this.toStrike = fault.times();
        }
    }

    private FaultyProxy(Coordinates target) throws IOException {
        this.target = target;
        PGSimpleDataSource address = target.dataSource();
        this.server = new InetSocketAddress(address.getServerNames()[0], address.getPortNumbers()[0]);
        ServerSocket socket = anywhere();
        this.port = socket.getLocalPort();
        listen(socket);
    }

    /** Another process may take a free port just before this one does. */
    private static ServerSocket anywhere() throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                return bound(Ports.free());
            } catch (BindException e) {
                if (tries == MAX_PORTS) {
                    throw e;
                }
            }
        }
    }

    private static ServerSocket bound(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private void listen(ServerSocket socket) {
        listener = socket;
        acceptor = ProxiedConnection.daemon("accept", () -> accept(socket));
    }

    /**
     * {@return a proxy that lets everything pass so far, to be closed}
     *
     * @param database where its clients go: to the server, or to the pooler in front of it
     * @throws DevDatabaseException if it can't listen
     */
    public static FaultyProxy before(TestDatabase database) {
        return to(database.jdbcUrl(), database.user(), database.password());
    }

    /**
     * {@return the same for any server that takes unencrypted connections}
     *
     * @param jdbcUrl where it is; of several hosts the first
     * @param user who connects
     * @param password the user's password
     * @throws DevDatabaseException if it can't listen
     */
    public static FaultyProxy to(String jdbcUrl, String user, String password) {
        try {
            return new FaultyProxy(new Coordinates(jdbcUrl, user, password));
        } catch (IOException e) {
            throw new DevDatabaseException("There is no port for a proxy: " + e.getMessage(), e);
        }
    }

    /** {@return the port on which it listens, the same all the time} */
    public int port() {
        return port;
    }

    /**
     * {@return a new unpooled data source for the same database and user through this proxy, to be given time-outs} It
     * waits for 5 s at most for a connection, and for ever for an answer unless it is given a {@code socketTimeout}.
     */
    public PGSimpleDataSource dataSource() {
        PGSimpleDataSource source = target.dataSource();
        source.setServerNames(new String[] {InetAddress.getLoopbackAddress().getHostAddress()});
        source.setPortNumbers(new int[] {port});
        source.setSslMode("disable");
        source.setGssEncMode("disable");
        source.setConnectTimeout(5);
        source.setAssumeMinServerVersion("9.0"); // else the driver sends a statement of its own after each connect
        return source;
    }

    // Faults.

    /**
     * Lets exchanges fail that come from now on. Of several faults that concern the same exchange, the first that was
     * injected strikes.
     *
     * @param fault what becomes of which exchange
     */
    public void inject(Fault fault) {
        lock.lock();
        try {
            injected.add(new Injected(fault));
        } finally {
            lock.unlock();
        }
    }

    /** From now on nobody can connect; connections that are there stay. */
    public void refuseConnections() {
        lock.lock();
        try {
            if (listener != null) {
                listener.close();
                listener = null;
            }
            if (acceptor != null) {
                acceptor.join(); // until it has noticed, the system still lets clients in
            }
        } catch (IOException e) {
            throw new DevDatabaseException("The proxy's port could not be closed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /**
     * One can connect again.
     *
     * @throws DevDatabaseException if the port was taken by someone else meanwhile
     */
    public void acceptConnections() {
        lock.lock();
        try {
            if (listener == null && !closed) {
                listen(bound(port));
            }
        } catch (IOException e) {
            throw new DevDatabaseException("The proxy can't listen on port " + port + ": " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    /** Breaks all connections that are open now. */
    public void cutConnections() {
        open.forEach(ProxiedConnection::cut);
    }

    /** No fault strikes any more, and one can connect. What is held back or dead already stays so. */
    public void heal() {
        lock.lock();
        try {
            injected.clear();
        } finally {
            lock.unlock();
        }
        acceptConnections();
    }

    // Looking.

    /** {@return how many exchanges were struck by a fault so far} A test whose fault struck nothing shows nothing. */
    public int struck() {
        lock.lock();
        try {
            return struck;
        } finally {
            lock.unlock();
        }
    }

    /** {@return how many connections were made so far} */
    public int connections() {
        return connections.get();
    }

    /**
     * Waits until every request that was held back has reached the server and was answered.
     *
     * @param most how long to wait
     * @throws IllegalStateException if that takes longer
     * @throws InterruptedException if this thread is interrupted while it waits
     */
    public void awaitHeldRequests(Duration most) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = most.toNanos();
            while (held > 0) {
                if (left <= 0) {
                    throw new IllegalStateException(held + " requests were not answered within " + most);
                }
                left = settled.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Breaks all connections, and lets nobody in any more. Repeating it does nothing. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        refuseConnections();
        cutConnections();
    }

    // For connections.

    /** What becomes of this exchange; null if it passes. */
    @Nullable
    Fault strike(String statements) {
        lock.lock();
        try {
            Injected next = injected.stream()
                    .filter(candidate -> candidate.fault.concerns(statements))
                    .findFirst()
                    .orElse(null);
            if (next == null || next.toSkip-- > 0) {
                return null;
            }
            if (--next.toStrike == 0) {
                injected.remove(next);
            }
            struck++;
            held += next.fault.kind() == Fault.Kind.STALL ? 1 : 0;
            return next.fault;
        } finally {
            lock.unlock();
        }
    }

    /** A request that was held back is answered, or lost for good. */
    void heldRequestSettled() {
        lock.lock();
        try {
            held--;
            settled.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void ended(ProxiedConnection connection) {
        open.remove(connection);
    }

    private void accept(ServerSocket socket) {
        while (true) {
            try {
                Socket client = socket.accept();
                connections.incrementAndGet();
                ProxiedConnection connection = new ProxiedConnection(this, client, server);
                open.add(connection);
                connection.start();
            } catch (IOException e) {
                LOG.trace("No more connections are taken", e);
                return;
            }
        }
    }
}
