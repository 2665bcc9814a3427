package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.db.Release;
import dev.millrace.devdb.Fault;
import dev.millrace.devdb.FaultyProxy;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DefaultConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** When a call is tried again, for how long, and what becomes of its connections. */
@MillraceDatabase
@Timeout(120)
class RepetitionTest {
    private static final Repetition.Policy BRIEF =
            new Repetition.Policy(List.of(Duration.ZERO, Duration.ZERO), Duration.ofMinutes(1), 10);

    private final StoreFixture db;

    RepetitionTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    // The decision.

    private static Failure failure(String state) {
        return new Failure(new DataAccessException("failed", new SQLException("failed", state)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"08001", "08003", "08006", "08P01", "57P01", "57P02", "57P03", "57P05", "53300", "25006"})
    void transientFailures_areRepeated(String state) {
        assertThat(new Repetition(FailureClass.REPEATABLE, BRIEF).goesOnAfter(failure(state)))
                .isTrue();
    }

    /** It would otherwise use up all tries before its rival is done. 24 pauses of up to 20 ms are never shorter than one. */
    @Test
    void rollbacks_areRepeatedAfterPauses_byAnInterruptedThreadAsWell() {
        Repetition repetition = new Repetition(FailureClass.REPEATABLE, Repetition.Policy.DEFAULT);
        Thread.currentThread().interrupt();
        long began = System.nanoTime();
        int tries = 1;
        while (repetition.goesOnAfter(failure("40001"))) {
            tries++;
        }
        assertThat(tries).isEqualTo(25);
        assertThat(System.nanoTime() - began)
                .isGreaterThan(Duration.ofMillis(20).toNanos());
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"28P01", "28000", "3D000", "42501", "57014", "23505", "22001", "57P04"})
    void otherFailures_areNot(String state) {
        assertThat(new Repetition(FailureClass.REPEATABLE, BRIEF).goesOnAfter(failure(state)))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "REPEATABLE, true, true",
        "CONFIRMABLE, true, true",
        "RECOVERABLE, true, false",
        "ONCE, true, false",
        "NEVER, false, false"
    })
    void classDecides(FailureClass failureClass, boolean ifNothingIsDone, boolean inDoubt) {
        Repetition nothingDone = new Repetition(failureClass, BRIEF);
        nothingDone.failed(false);
        assertThat(nothingDone.goesOnAfter(failure("08006"))).isEqualTo(ifNothingIsDone);
        Repetition doubtful = new Repetition(failureClass, BRIEF);
        doubtful.failed(true);
        assertThat(doubtful.goesOnAfter(failure("08006"))).isEqualTo(inDoubt);
    }

    @Test
    void doubt_staysWithTheCall() {
        Repetition repetition = new Repetition(FailureClass.CONFIRMABLE, BRIEF);
        repetition.failed(true);
        repetition.failed(false);
        assertThat(repetition.mayHaveHappened()).isTrue();
    }

    /** Whatever stops the repetitions in the end. */
    @ParameterizedTest
    @ValueSource(strings = {"08006", "28P01", "40001", "42P01", "42501", "23505"})
    void doubt_isToldWithEveryFailure(String state) {
        Repetition repetition = new Repetition(FailureClass.CONFIRMABLE, BRIEF);
        repetition.failed(false);
        assertThat(failure(state).told("try", "millrace", true, repetition).mayHaveHappened())
                .isFalse();
        repetition.failed(true);
        repetition.failed(false);
        assertThat(failure(state).told("try", "millrace", true, repetition).mayHaveHappened())
                .isTrue();
    }

    @Test
    void usualPauses_makeFourRepetitions_inLessThanFiveSeconds() {
        Repetition repetition = new Repetition(FailureClass.REPEATABLE, Repetition.Policy.DEFAULT);
        long began = System.nanoTime();
        int repetitions = 0;
        while (repetition.goesOnAfter(failure("08006"))) {
            repetitions++;
        }
        assertThat(repetitions).isEqualTo(4);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(3_700));
    }

    @Test
    void noTryBegins_afterTheLimit() {
        AtomicLong now = new AtomicLong();
        Repetition repetition = new Repetition(FailureClass.REPEATABLE, Repetition.Policy.DEFAULT, now::get);
        now.set(TimeUnit.MILLISECONDS.toNanos(4_700));
        assertThat(repetition.goesOnAfter(failure("08006"))).isTrue();
        now.set(TimeUnit.MILLISECONDS.toNanos(4_701));
        assertThat(repetition.goesOnAfter(failure("08006"))).isFalse();
    }

    // Calls.

    /** Counts who asks for a connection, and gives none. */
    private static final class EmptyPool extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        private final AtomicInteger asked = new AtomicInteger();
        private final String state;

        EmptyPool(String state) {
            this.state = state;
        }

        @Override
        public Connection getConnection() throws SQLException {
            asked.incrementAndGet();
            throw new SQLException("none for you", state);
        }
    }

    private static PostgresStore store(PGSimpleDataSource pool, Repetition.Policy policy) {
        return PostgresStore.on(pool, "millrace", new SchemaGate("millrace", Release.current()), policy);
    }

    @Test
    void interruptedThread_repeatsNothing_andStaysInterrupted() {
        EmptyPool pool = new EmptyPool("08001");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> store(pool, Repetition.Policy.DEFAULT).jobs().get("x"))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(pool.asked).hasValue(1);
    }

    @Test
    void interruptInAPause_endsTheCall() throws InterruptedException {
        EmptyPool pool = new EmptyPool("08001");
        Repetition.Policy patient = new Repetition.Policy(List.of(Duration.ofHours(1)), Duration.ofHours(2), 10);
        Thread caller = new Thread(() -> {
            try {
                store(pool, patient).jobs().get("x");
            } catch (StoreUnavailableException e) {
                // as expected
            }
        });
        caller.start();
        while (caller.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        caller.interrupt();
        caller.join(60_000);
        assertThat(caller.isAlive()).isFalse();
        assertThat(pool.asked).hasValue(1);
    }

    @Test
    void message_saysHowOftenItWasTried() {
        EmptyPool pool = new EmptyPool("08001");
        assertThatThrownBy(() -> store(pool, BRIEF).jobs().get("x"))
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        e -> assertThat(e.mayHaveHappened()).isFalse())
                .hasMessageContaining("3 times in ");
        assertThat(pool.asked).hasValue(3);
    }

    @Test
    void loops_areToldAtOnce() {
        EmptyPool pool = new EmptyPool("08001");
        PostgresStore loops = store(pool, BRIEF).forLoops();
        assertThatThrownBy(() -> loops.jobs().get("x")).isInstanceOf(StoreUnavailableException.class);
        assertThat(pool.asked).hasValue(1);
        assertThat(db.store.in(new DefaultConfiguration()).forLoops()).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({"28P01, user and password", "28000, pg_hba.conf", "3D000, name of the database"})
    void whoIsTurnedAway_isToldWhatToMend_atOnce(String state, String advice) {
        EmptyPool pool = new EmptyPool(state);
        assertThatThrownBy(() -> store(pool, BRIEF).jobs().get("x"))
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        e -> assertThat(e.mayHaveHappened()).isFalse())
                .hasMessageContaining("does not let the data source in (none for you)")
                .hasMessageContaining(advice);
        assertThat(pool.asked).hasValue(1);
    }

    @Test
    @DisabledIfEnvironmentVariable(named = "MILLRACE_DEVDB_POOLER", matches = ".+", disabledReason = "sets its session")
    void refusedStatement_hasNotHappened() throws SQLException {
        PGSimpleDataSource hasty = new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = db.database.unpooledDataSource().getConnection();
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SET statement_timeout = 100");
                }
                return connection;
            }
        };
        PostgresStore store = PostgresStore.on(hasty, db.database.schema());
        String id = db.submit(FailureCases.kind()).id();
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .selectFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                    .forUpdate()
                    .execute();
            assertThatThrownBy(() -> store.queue().requeue(id, Duration.ZERO))
                    .isExactlyInstanceOf(StoreException.class)
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            e -> assertThat(e.mayHaveHappened()).isFalse());
        });
    }

    /** Before the first statement the schema is asked; a claim whose own statement was not sent has taken nothing. */
    @Test
    void failureWhileTheSchemaIsAsked_isRepeated_whateverFollows() {
        try (FaultyProxy proxy = FaultyProxy.before(db.database)) {
            PostgresStore store = PostgresStore.on(proxy.dataSource(), db.database.schema());
            String kind = FailureCases.kind();
            db.submit(kind);
            proxy.inject(Fault.cutBeforeReply().onStatement("controls"));
            assertThat(store.work().claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(kind), 1)))
                    .hasSize(1);
            assertThat(proxy.struck()).isEqualTo(1);
        }
    }

    @Test
    void callersTransaction_isNotRepeated() throws SQLException {
        try (FaultyProxy proxy = FaultyProxy.before(db.database);
                Connection connection = proxy.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            proxy.inject(Fault.cutBeforeRequest().onStatement("insert into"));
            assertThatThrownBy(() -> db.store.in(connection).jobs().submit(StoreFixture.newJob("k")))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(proxy.struck()).isEqualTo(1);
            assertThat(proxy.connections()).isEqualTo(1);
        }
    }

    // Connections.

    /** One connection, which is checked by the driver's isValid: a read-only server passes that. */
    private HikariDataSource pool(FaultyProxy proxy) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(proxy.dataSource());
        config.setMaximumPoolSize(1);
        config.setConnectionTestQuery("SELECT 1");
        return new HikariDataSource(config);
    }

    @ParameterizedTest
    @EnumSource(Eviction.class)
    @DisabledIfEnvironmentVariable(named = "MILLRACE_DEVDB_POOLER", matches = ".+", disabledReason = "sets its session")
    void failedConnection_isNotHandedOutAgain(Eviction how) throws SQLException {
        try (FaultyProxy proxy = FaultyProxy.before(db.database);
                HikariDataSource pool = pool(proxy)) {
            PostgresStore store = PostgresStore.on(pool, db.database.schema());
            store.clock().now();
            int before = proxy.connections();
            how.spoil(proxy, pool);
            String id = FailureCases.kind();
            assertThat(store.jobs().submit(StoreFixture.newJob("k").withId(id)).created())
                    .isTrue();
            assertThat(proxy.connections()).isGreaterThan(before);
            assertThat(db.get(id).version()).isEqualTo(1);
            int after = proxy.connections();
            store.jobs().get(id);
            assertThat(proxy.connections()).as("a good one is kept").isEqualTo(after);
        }
    }

    enum Eviction {
        READ_ONLY {
            @Override
            void spoil(FaultyProxy proxy, HikariDataSource pool) throws SQLException {
                try (Connection connection = pool.getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("SET default_transaction_read_only = on");
                }
            }
        },
        BROKEN {
            @Override
            void spoil(FaultyProxy proxy, HikariDataSource pool) {
                proxy.cutConnections();
            }
        };

        abstract void spoil(FaultyProxy proxy, HikariDataSource pool) throws SQLException;
    }
}
