package dev.millrace.testkit;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.MillraceTransaction;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.AssignedClaim;
import dev.millrace.types.JobStatus;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** Everything in the test's transaction, which is rolled back: nothing may be left. */
@MillraceTest
@Timeout(60)
class TransactionTest {
    record Work(String what) {}

    private static final JobType<Work> WORK = JobType.of("work", Work.class);

    /** The three ways to hand a transaction to the kit; and a connection behind something that hides the driver's. */
    enum Way {
        JOOQ,
        CONNECTION,
        HIDDEN_CONNECTION,
        SPRING
    }

    private final TestDatabase database;
    private final Millrace millrace;
    private final TestKit kit;

    TransactionTest(TestDatabase database, Millrace millrace, TestKit kit) {
        this.database = database;
        this.millrace = millrace;
        this.kit = kit;
    }

    /** The test's transaction, as one of the ways has it. */
    private record Tx(TestKit kit, MillraceTransaction millrace, Connection connection) {
        void execute(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }

    private interface InTx {
        void run(Tx tx) throws Exception;
    }

    private static final class UndoneException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private void undone(Way way, InTx test) throws Exception {
        switch (way) {
            case JOOQ -> {
                try {
                    DSL.using(database.dataSource(), SQLDialect.POSTGRES).transaction(tx -> {
                        var connection = tx.connectionProvider().acquire();
                        test.run(new Tx(kit.in(tx), millrace.in(tx), connection));
                        throw new UndoneException();
                    });
                } catch (UndoneException e) {
                    // as intended
                }
            }
            case CONNECTION -> {
                try (Connection connection = database.dataSource().getConnection()) {
                    connection.setAutoCommit(false);
                    test.run(new Tx(kit.in(connection), millrace.in(connection), connection));
                    connection.rollback();
                }
            }
            case HIDDEN_CONNECTION -> {
                try (Connection connection = database.dataSource().getConnection()) {
                    connection.setAutoCommit(false);
                    Connection hiding = hiding(connection);
                    test.run(new Tx(kit.in(hiding), millrace.in(hiding), hiding));
                    connection.rollback();
                }
            }
            case SPRING -> {
                var aware = new TransactionAwareDataSourceProxy(database.dataSource());
                new TransactionTemplate(new DataSourceTransactionManager(database.dataSource()))
                        .executeWithoutResult(status -> {
                            status.setRollbackOnly();
                            try {
                                test.run(new Tx(
                                        kit.in(aware),
                                        millrace.in(aware),
                                        DataSourceUtils.getConnection(database.dataSource())));
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
            }
        }
    }

    /** The same connection, of which nobody can tell what is behind it. */
    private static Connection hiding(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                TransactionTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("isWrapperFor")) {
                        return false;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @ParameterizedTest
    @EnumSource
    void run_inATransactionThatIsRolledBack_leavesNothing(Way way) throws Exception {
        Job before = millrace.submit(WORK, new Work("before"));
        List<String> done = new ArrayList<>();
        undone(way, tx -> {
            tx.millrace().submit(WORK, new Work("within"));
            TestKit handling = tx.kit().handle(WORK, (work, context) -> {
                done.add(work.what());
                context.progress(50, "Half");
                context.log(work.what());
                context.resultPackage(work);
                if (work.what().equals("before")) {
                    tx.millrace().submit(WORK, new Work("by a handler"));
                }
            });
            List<JobRun> runs = handling.runAllDue();
            assertThat(runs).allSatisfy(JobRun::assertSucceeded);
            assertThat(runs).extracting(JobRun::messages).contains(List.of("within"));
            handling.assertSubmitted(WORK).withPayload(new Work("within")).once();
            // Others see nothing of it.
            assertThat(millrace.get(before.id())).contains(before);
        });
        assertThat(done).containsExactly("before", "within", "by a handler");
        assertThat(millrace.get(before.id())).contains(before);
        kit.assertSubmitted(WORK).once();
        assertThat(millrace.logs().tail(before.id(), 1).lines()).isEmpty();
        assertThat(millrace.results().get(before.id())).isEmpty();
    }

    /** What PostgreSQL refuses after an error is everything, and so the outcome as well. */
    @ParameterizedTest
    @EnumSource
    void sqlErrorOfAHandler_failsItsJob_notTheTest(Way way) throws Exception {
        undone(way, tx -> {
            TestKit handling = tx.kit().handle(WORK, (work, context) -> {
                tx.millrace().submit(WORK, new Work("undone"));
                tx.execute("SELECT 1/0");
            });
            JobRun run = handling.run(WORK, new Work("a"), retry(RetryPolicy.fixed(2, Duration.ofMinutes(1))))
                    .assertQueuedAgain();
            assertThat(run.thrown()).isInstanceOf(SQLException.class);
            handling.assertSubmitted(WORK).once();
        });
        kit.assertNothingSubmitted();
    }

    @ParameterizedTest
    @EnumSource
    void handlerThatCompletesItsJobItself_inTheSameTransaction_hasSucceeded(Way way) throws Exception {
        undone(way, tx -> {
            TestKit completing =
                    tx.kit().handle(WORK, (work, context) -> tx.millrace().complete(context));
            JobRun run = completing.run(WORK, new Work("a")).assertSucceeded();
            assertThat(run.thrown()).isNull();
        });
        kit.assertNothingSubmitted();
    }

    @ParameterizedTest
    @EnumSource
    void otherExceptionOfAHandler_keepsWhatItWrote(Way way) throws Exception {
        undone(way, tx -> {
            TestKit handling = tx.kit().handle(WORK, (work, context) -> {
                tx.millrace().submit(WORK, new Work("kept"), delay(Duration.ofMinutes(1)));
                throw new IllegalStateException("afterwards");
            });
            handling.run(WORK, new Work("a")).assertQueuedAgain();
            handling.assertSubmitted(WORK).withPayload(new Work("kept")).once();
        });
    }

    @Test
    void handlerThatGoesOnAfterAnSqlError_hasFailed() throws Exception {
        undone(Way.CONNECTION, tx -> {
            JobRun run = tx.kit()
                    .handle(WORK, (work, context) -> {
                        try {
                            tx.execute("SELECT 1/0");
                        } catch (SQLException e) {
                            // swallowed
                        }
                    })
                    .run(WORK, new Work("a"))
                    .assertQueuedAgain();
            assertThat(run.thrown()).hasMessageContaining("An SQL error ended the test's transaction");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"CONNECTION", "SPRING"})
    void handlerThatEndsTheTransaction_isSaidToHaveDoneSo(Way way) throws Exception {
        for (boolean fails : new boolean[] {false, true}) {
            undone(way, tx -> {
                TestKit handling = tx.kit().handle(WORK, (work, context) -> end(tx.connection(), fails));
                assertThatThrownBy(() -> handling.run(WORK, new Work("a")))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("The handler has ended the test's transaction");
            });
        }
    }

    private static void end(Connection connection, boolean fails) throws SQLException {
        connection.rollback();
        if (fails) {
            throw new IllegalStateException("and fails");
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeAndRecovery_inATransactionThatIsRolledBack_leaveNothing(Way way) throws Exception {
        Job delayed = millrace.submit(WORK, new Work("delayed"), delay(Duration.ofMinutes(10)));
        Job silent = millrace.submit(
                WORK,
                new Work("silent"),
                heartbeat(new HeartbeatPolicy(Duration.ofSeconds(30), Duration.ofSeconds(90))));
        millrace.queue().claim(AssignedClaim.of("dead", silent.id()));
        Job claimed = millrace.get(silent.id()).orElseThrow();
        undone(way, tx -> {
            TestKit handling = tx.kit().handle(WORK, (work, context) -> {});
            assertThat(handling.runAllDue()).isEmpty();
            handling.timePasses(Duration.ofMinutes(10));
            handling.run(delayed).assertSucceeded();
            assertThat(handling.recoverNow().requeued()).isOne();
            handling.timePasses(Duration.ofDays(8));
            assertThat(handling.sweepRetentionNow().jobs()).isPositive();
            assertThat(tx.millrace().get(delayed.id())).isEmpty();
        });
        assertThat(millrace.get(delayed.id())).contains(delayed);
        assertThat(millrace.get(silent.id())).contains(claimed);
        assertThat(claimed.status()).isEqualTo(JobStatus.PROVISIONING);
    }

    @Test
    void connectionInNoTransaction_isRefused() throws Exception {
        Job job = millrace.submit(WORK, new Work("a"));
        try (Connection connection = database.dataSource().getConnection()) {
            TestKit inNone = kit.in(connection).handle(WORK, (work, context) -> {});
            assertThatThrownBy(() -> inNone.timePasses(Duration.ofDays(1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("auto-commit");
            assertThatThrownBy(() -> inNone.run(job))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("auto-commit");
        }
        assertThat(millrace.get(job.id())).contains(job);
    }

    /** Such a pool undoes what is not committed. */
    @Test
    void kitOnAPoolWithoutAutoCommit_writesAllTheSame() {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(database.unpooledDataSource());
            pool.setAutoCommit(false);
            pool.setMaximumPoolSize(2);
            Millrace on = Millrace.on(pool).withSchema(database.schema());
            TestKit own = TestKit.on(on).sinceNow().handle(WORK, (work, context) -> {});
            Job job = on.submit(WORK, new Work("a"), delay(Duration.ofMinutes(1)));
            own.timePasses(Duration.ofMinutes(1));
            own.run(job).assertSucceeded();
            assertThat(millrace.get(job.id()).orElseThrow().status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }

    /** As an application does it: with Spring's JDBC, on the thread's transaction. */
    @Test
    void handlerThatJoinsTheThreadsTransaction_isRolledBackWithIt() {
        var jdbc = new JdbcTemplate(database.dataSource());
        String table = "\"" + database.schema() + "\".shipped";
        jdbc.execute("CREATE TABLE " + table + " (what text)");
        var transaction = new TransactionTemplate(new DataSourceTransactionManager(database.dataSource()));
        TestKit handling = kit.in(new TransactionAwareDataSourceProxy(database.dataSource()))
                .handle(
                        WORK,
                        (work, context) -> transaction.executeWithoutResult(
                                status -> jdbc.update("INSERT INTO " + table + " VALUES (?)", work.what())));
        transaction.executeWithoutResult(status -> {
            handling.run(WORK, new Work("a")).assertSucceeded();
            assertThat(jdbc.queryForList("SELECT what FROM " + table, String.class))
                    .containsExactly("a");
            status.setRollbackOnly();
        });
        assertThat(jdbc.queryForList("SELECT what FROM " + table, String.class)).isEmpty();
        jdbc.execute("DROP TABLE " + table);
    }
}
