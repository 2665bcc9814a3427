package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.db.Release;
import dev.millrace.devdb.Fault;
import dev.millrace.devdb.FaultyProxy;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.postgres.FailureCases.Case;
import dev.millrace.store.postgres.FailureCases.Scene;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Each operation of the store, at each of its statements, in each way in which the network to the database can fail: what
 * the caller is told, and that nothing is done twice. Every trial has a proxy of its own; many are made at once, since most
 * of their time passes by waiting.
 */
@MillraceDatabase
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(240)
class OutageTest {
    private static final int SOCKET_TIMEOUT_SECONDS = 2;
    private static final Duration STALL = Duration.ofSeconds(3);
    private static final int THREADS = 12;

    /** Short pauses, as many as usual; a limit that three time-outs don't reach. */
    private static final Repetition.Policy QUICK = new Repetition.Policy(
            List.of(Duration.ofMillis(10), Duration.ofMillis(20), Duration.ofMillis(20), Duration.ofMillis(20)),
            Duration.ofMinutes(1),
            10);

    /** Where it fails. */
    enum Point {
        REFUSED,
        CUT_BEFORE_REQUEST,
        CUT_BEFORE_REPLY,
        STALL,
        HALF_OPEN;

        private Fault fault(int statement) {
            return switch (this) {
                case CUT_BEFORE_REQUEST -> Fault.cutBeforeRequest().skipping(statement);
                case CUT_BEFORE_REPLY -> Fault.cutBeforeReply().skipping(statement);
                case STALL -> Fault.stall(OutageTest.STALL).skipping(statement);
                case HALF_OPEN -> Fault.halfOpen().skipping(statement);
                case REFUSED -> throw new IllegalStateException("is no exchange");
            };
        }
    }

    private final TestDatabase database;
    private final StoreFixture db;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final Map<Case, Map<Point, Future<List<String>>>> trials = new LinkedHashMap<>();

    OutageTest(TestDatabase database) {
        this.database = database;
        this.db = new StoreFixture(database);
    }

    @BeforeAll
    void startTrials() throws Exception {
        for (Case operation : FailureCases.all()) {
            Map<Point, Future<List<String>>> points = new LinkedHashMap<>();
            for (Point point : Point.values()) {
                Future<List<String>> trial = threads.submit(() -> tryAt(operation, point));
                points.put(point, trial);
                if (operation.runsAlone()) {
                    trial.get(60, TimeUnit.SECONDS);
                }
            }
            trials.put(operation, points);
        }
    }

    @AfterAll
    void endTrials() {
        threads.shutdownNow();
    }

    static List<Case> cases() {
        return FailureCases.all();
    }

    @Test
    void everyOperation_hasACase() {
        Set<Operation> tried = FailureCases.all().stream()
                .map(Case::operation)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Operation.class)));
        assertThat(tried).as("operations that FailureCases tries").containsExactlyInAnyOrder(Operation.values());
    }

    @ParameterizedTest
    @MethodSource("cases")
    void operation_survivesWhatItsClassSays_andIsDoneOnce(Case operation) throws Exception {
        List<String> wrong = new ArrayList<>();
        for (Map.Entry<Case, Map<Point, Future<List<String>>>> trial : trials.entrySet()) {
            if (trial.getKey().toString().equals(operation.toString())) {
                for (Future<List<String>> point : trial.getValue().values()) {
                    wrong.addAll(point.get(200, TimeUnit.SECONDS));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** At each statement of the call, until there is none any more. Returns what was wrong. */
    private List<String> tryAt(Case operation, Point point) throws Exception {
        List<String> wrong = new ArrayList<>();
        if (point == Point.REFUSED) {
            trial(operation, point, 0, wrong);
            return wrong;
        }
        int statement = 0;
        while (trial(operation, point, statement, wrong)) {
            statement++;
        }
        if (statement == 0) {
            wrong.add("no statement was struck");
        }
        return wrong;
    }

    /** Returns whether the fault has struck. */
    private boolean trial(Case operation, Point point, int statement, List<String> wrong) throws Exception {
        Scene scene = operation.scene().apply(db);
        try (FaultyProxy proxy = FaultyProxy.before(database)) {
            Clients clients = new Clients(proxy);
            SchemaGate gate = new SchemaGate(database.schema(), Release.current());
            PostgresStore store = PostgresStore.on(clients, database.schema(), gate, QUICK);
            store.clock().now(); // so that the gate has asked
            if (point == Point.REFUSED) {
                clients.refuseOnce();
            } else {
                proxy.inject(point.fault(statement));
            }
            String where = operation + ", " + point + " at statement " + statement;
            boolean answered = false;
            long began = System.nanoTime();
            try {
                Object answer = scene.call().apply(store);
                answered = true;
                boolean struck = point == Point.REFUSED || proxy.struck() > 0;
                if (struck && !repeats(operation.operation(), point)) {
                    wrong.add(where + ": answered " + answer + ", but was not to be repeated");
                } else if (!scene.answer().test(answer)) {
                    wrong.add(where + ": answered " + answer);
                }
            } catch (StoreUnavailableException e) {
                if (repeats(operation.operation(), point)) {
                    wrong.add(where + ": " + e);
                }
                if (e.mayHaveHappened() != (point != Point.REFUSED)) {
                    wrong.add(where + ": mayHaveHappened is " + e.mayHaveHappened());
                }
            } catch (RuntimeException e) {
                wrong.add(where + ": " + e);
            }
            // More than that would be a call that hangs.
            if (System.nanoTime() - began > TimeUnit.SECONDS.toNanos(60)) {
                wrong.add(where + ": it took more than a minute");
            }
            proxy.awaitHeldRequests(Duration.ofMinutes(1));
            try {
                scene.afterwards().run(answered);
            } catch (AssertionError e) {
                wrong.add(where + ": afterwards " + e.getMessage());
            }
            return point != Point.REFUSED && proxy.struck() > 0;
        }
    }

    private static boolean repeats(Operation operation, Point point) {
        return switch (operation.failureClass()) {
            case REPEATABLE, CONFIRMABLE -> true;
            case RECOVERABLE, ONCE -> point == Point.REFUSED;
            case NEVER -> false;
        };
    }

    /** Connections through the proxy; it can be closed to one of them, after which it is open again. */
    private static final class Clients extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        private final transient FaultyProxy proxy;
        private final transient PGSimpleDataSource source;
        private final AtomicInteger refusals = new AtomicInteger();

        Clients(FaultyProxy proxy) {
            this.proxy = proxy;
            this.source = proxy.dataSource();
            source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
        }

        void refuseOnce() {
            refusals.set(1);
            proxy.refuseConnections();
        }

        @Override
        public Connection getConnection() throws SQLException {
            try {
                return source.getConnection();
            } catch (SQLException e) {
                if (refusals.decrementAndGet() == 0) {
                    proxy.acceptConnections();
                }
                throw e;
            }
        }
    }
}
