package dev.millrace;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.queue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.JobSignals;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Jobs that come in wake those who wait for them. The workers here poll once an hour, so that nothing else helps them. */
@MillraceDatabase
@Timeout(120)
class WakeUpsTest {
    private static final JobType<JsonText> WORK = JobType.of("work", JsonText.class);
    private static final JsonText NOTHING = JsonText.of("{}");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String POOLER = "MILLRACE_DEVDB_POOLER";

    /** A connection that went silent is noticed soon. */
    private static final WakeUps.Pace BRISK =
            new WakeUps.Pace(Duration.ofMillis(300), Duration.ofSeconds(5), Duration.ofMillis(10));

    private final TestDatabase database;
    private final Millrace millrace;

    WakeUpsTest(TestDatabase database) {
        this.database = database;
        this.millrace =
                Millrace.on(database.dataSource()).withSchema(database.schema()).withWakeUps();
    }

    /** As in another process. */
    private Millrace another() {
        return Millrace.on(database.dataSource()).withSchema(database.schema()).withWakeUps();
    }

    private static Worker start(Millrace millrace, String queue) {
        return millrace.worker()
                .handle(WORK, (payload, context) -> {})
                .queues(queue)
                .pollInterval(Duration.ofHours(1))
                .withoutRecovery()
                .withoutRetention()
                .start();
    }

    private static void awaitListening(WakeUps wakeUps) {
        await().atMost(PATIENCE).until(wakeUps::listening);
    }

    @Test
    void fewSignals_wakeEachAtOnce_andManyFiftyTimesASecond() {
        long second = 1_000_000_000;
        for (long start : new long[] {0, Long.MAX_VALUE - second}) {
            WakeUps.Often often = new WakeUps.Often(start);
            long now = start;
            for (int signal = 0; signal < 5; signal++) {
                assertThat(often.pause(now)).isZero();
            }
            assertThat(often.pause(now)).isEqualTo(second / 50);
            int heard = 0;
            for (; now - start < 10 * second; heard++) {
                now += 1 + often.pause(now);
            }
            assertThat(heard).isBetween(495, 506);
            now += second;
            for (int signal = 0; signal < 5; signal++) {
                assertThat(often.pause(now)).isZero();
            }
        }
    }

    // From end to end.

    @Test
    @DisabledIfEnvironmentVariable(named = POOLER, matches = ".+", disabledReason = "signals don't get through it")
    void submission_wakesAWorkerOfAnotherProcess() throws InterruptedException {
        Millrace other = another();
        try (Worker worker = start(other, "awake")) {
            awaitListening(other.wakeUps());
            for (int i = 0; i < 3; i++) {
                Job job = millrace.submit(WORK, NOTHING, queue("awake"));
                assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            }
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    @Test
    @DisabledIfEnvironmentVariable(named = POOLER, matches = ".+", disabledReason = "signals don't get through it")
    void submissionInACallersTransaction_wakesWithItsCommit() throws Exception {
        Millrace other = another();
        try (Worker worker = start(other, "committed");
                Connection connection = database.dataSource().getConnection()) {
            awaitListening(other.wakeUps());
            connection.setAutoCommit(false);
            Job job = millrace.in(connection).submit(WORK, NOTHING, queue("committed"));
            connection.commit();
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    @Test
    @DisabledIfEnvironmentVariable(named = POOLER, matches = ".+", disabledReason = "signals don't get through it")
    void connectionThatIsCut_isReplaced_andWhatCameInMeanwhileIsFound() throws Exception {
        Millrace other = another();
        try (Worker worker = start(other, "cut")) {
            awaitListening(other.wakeUps());
            execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                    + " AND query LIKE 'LISTEN%'");
            Job job = millrace.submit(WORK, NOTHING, queue("cut"));
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            awaitListening(other.wakeUps());
            Job next = millrace.submit(WORK, NOTHING, queue("cut"));
            assertThat(millrace.await(next, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    @Test
    void processWithoutWorkers_listensToNothing_andOneWithSeveralOnce() throws Exception {
        assertThat(millrace.wakeUps().listening()).isFalse();
        AtomicInteger listeners = new AtomicInteger();
        JobSignals counted = new Loopback(listeners);
        WakeUps wakeUps = new WakeUps(counted, BRISK);
        List<AutoCloseable> subscriptions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            subscriptions.add(wakeUps.subscribe(List.of("q"), () -> {}));
        }
        awaitListening(wakeUps);
        assertThat(listeners).hasValue(1);
        for (AutoCloseable subscription : subscriptions) {
            subscription.close();
            subscription.close();
        }
        await().atMost(PATIENCE).until(() -> listeners.get() == 0);
    }

    // What is sent.

    private List<String> heardWhile(Runnable deeds) throws SQLException {
        try (Connection connection = database.unpooledDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            PGConnection listener = connection.unwrap(PGConnection.class);
            statement.execute("LISTEN " + listener.escapeIdentifier("millrace:" + database.schema()));
            deeds.run();
            PostgresStore.on(database.dataSource(), database.schema()).signals().probe("end");
            List<String> heard = new ArrayList<>();
            while (!heard.contains("probe:end")) {
                PGNotification[] some = listener.getNotifications(1_000);
                for (PGNotification one : some == null ? new PGNotification[0] : some) {
                    heard.add(one.getParameter());
                }
            }
            heard.remove("probe:end");
            return heard;
        }
    }

    @Test
    @DisabledIfEnvironmentVariable(named = POOLER, matches = ".+", disabledReason = "signals don't get through it")
    void signals_areSentOncePerStatement_forJobsThatMayRunAtOnce() throws SQLException {
        assertThat(heardWhile(() -> millrace.submit(WORK, NOTHING, queue("one"))))
                .containsExactly("queue:one");
        assertThat(heardWhile(() -> millrace.submitAll(WORK, Collections.nCopies(500, NOTHING), queue("many"))))
                .containsExactly("queue:many");
        assertThat(heardWhile(() -> millrace.submit(WORK, NOTHING, queue("late"), delay(Duration.ofMinutes(1)))))
                .isEmpty();
        assertThat(heardWhile(() -> millrace.submit(WORK, NOTHING, SubmitOption.backend("remote"))))
                .isEmpty();
        Millrace silent = Millrace.on(database.dataSource()).withSchema(database.schema());
        assertThat(heardWhile(() -> {
                    silent.submit(WORK, NOTHING, queue("one"));
                    silent.submitAll(WORK, List.of(NOTHING), queue("many"));
                }))
                .isEmpty();
    }

    @Test
    @DisabledIfEnvironmentVariable(named = POOLER, matches = ".+", disabledReason = "signals don't get through it")
    void submissionThatIsRepeated_orRolledBack_sendsNothing() throws SQLException {
        millrace.submit(WORK, NOTHING, SubmitOption.id("twice"), queue("one"));
        assertThat(heardWhile(() -> millrace.submit(WORK, NOTHING, SubmitOption.id("twice"), queue("one"))))
                .isEmpty();
        assertThat(heardWhile(() -> rolledBack(queue("one")))).isEmpty();
    }

    private void rolledBack(SubmitOption option) {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            millrace.in(connection).submit(WORK, NOTHING, option);
            connection.rollback();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.unpooledDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    // Field case A31, and signals that never arrive.

    /** Signals that go from one to all, as long as nothing is wrong with the way. */
    private static final class Loopback implements JobSignals {
        private final AtomicInteger listeners;
        private final Queue<Ear> ears = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean deaf = new AtomicBoolean();
        private final AtomicBoolean refused = new AtomicBoolean();
        private final AtomicInteger listens = new AtomicInteger();

        Loopback(AtomicInteger listeners) {
            this.listeners = listeners;
        }

        /** Of one connection; what was deaf stays deaf. */
        private final class Ear implements Listening {
            private final Queue<Heard> heard = new ConcurrentLinkedQueue<>();
            private boolean dead;

            @Override
            public Heard await(Duration atMost) {
                dead |= deaf.get();
                Heard next = dead ? null : heard.poll();
                if (next != null) {
                    return next;
                }
                try {
                    Thread.sleep(Math.min(5, atMost.toMillis()));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return new Heard(Set.of(), Set.of());
            }

            @Override
            public void close() {
                ears.remove(this);
                listeners.decrementAndGet();
            }
        }

        @Override
        public Listening listen() {
            listens.incrementAndGet();
            if (refused.get()) {
                throw new StoreUnavailableException("out of reach", null);
            }
            Ear ear = new Ear();
            ears.add(ear);
            listeners.incrementAndGet();
            return ear;
        }

        @Override
        public void probe(String token) {
            ears.forEach(ear -> ear.heard.add(new Heard(Set.of(), Set.of(token))));
        }

        void say(String queue) {
            ears.forEach(ear -> ear.heard.add(new Heard(Set.of(queue), Set.of())));
        }
    }

    private final Loopback loopback = new Loopback(new AtomicInteger());
    private final List<String> woken = new CopyOnWriteArrayList<>();

    private AutoCloseable subscribe(WakeUps wakeUps, String queue) {
        return wakeUps.subscribe(List.of(queue), () -> woken.add(queue));
    }

    @Test
    void signal_wakesThoseWhoWaitForThatQueue_andNoOther() throws Exception {
        WakeUps wakeUps = new WakeUps(loopback, BRISK);
        try (AutoCloseable one = subscribe(wakeUps, "a");
                AutoCloseable two = subscribe(wakeUps, "b")) {
            awaitListening(wakeUps);
            woken.clear(); // each was woken when it began: something may have come in before
            loopback.say("a");
            await().atMost(PATIENCE).until(() -> !woken.isEmpty());
            assertThat(woken).containsOnly("a");
            assertThat(List.of(one, two)).doesNotContainNull();
        }
    }

    /** Nothing is said of it afterwards. */
    @Test
    void whatMayHaveComeInWhileNobodyListened_wakes() throws Exception {
        loopback.refused.set(true);
        WakeUps wakeUps = new WakeUps(loopback, BRISK);
        try (AutoCloseable subscription = subscribe(wakeUps, "a")) {
            await().atMost(PATIENCE).until(() -> loopback.listens.get() > 0);
            assertThat(woken).isEmpty();
            loopback.refused.set(false);
            awaitListening(wakeUps);
            assertThat(woken).containsExactly("a");
            assertThat(subscription).isNotNull();
        }
    }

    @Test
    void connectionThatWentSilent_isReplaced_andWakesAgain() throws Exception {
        WakeUps wakeUps = new WakeUps(
                loopback, new WakeUps.Pace(Duration.ofMillis(50), Duration.ofMillis(500), Duration.ofMillis(5)));
        try (AutoCloseable subscription = subscribe(wakeUps, "a")) {
            awaitListening(wakeUps);
            loopback.deaf.set(true);
            await().atMost(PATIENCE).until(() -> !wakeUps.listening());
            loopback.deaf.set(false);
            awaitListening(wakeUps);
            assertThat(wakeUps.off()).isFalse();
            woken.clear();
            loopback.say("a");
            await().atMost(PATIENCE).until(() -> woken.contains("a"));
            assertThat(subscription).isNotNull();
        }
    }

    @Test
    void signalsThatNeverArrive_switchTheWakeUpsOff_forGood() throws Exception {
        loopback.deaf.set(true);
        WakeUps wakeUps = new WakeUps(
                loopback, new WakeUps.Pace(Duration.ofMillis(20), Duration.ofMillis(20), Duration.ofMillis(5)));
        try (AutoCloseable subscription = subscribe(wakeUps, "a")) {
            await().atMost(PATIENCE).until(wakeUps::off);
            assertThat(loopback.listens).hasValue(3);
            assertThat(subscription).isNotNull();
        }
        await().atMost(PATIENCE).until(() -> loopback.listeners.get() == 0);
        try (AutoCloseable subscription = subscribe(wakeUps, "a")) {
            assertThat(loopback.listens).hasValue(3);
            assertThat(subscription).isNotNull();
        }
    }

    @Test
    void databaseThatIsOutOfReach_isTriedAgain_andIsNoReasonToSwitchOff() throws Exception {
        loopback.refused.set(true);
        WakeUps wakeUps = new WakeUps(loopback, BRISK);
        try (AutoCloseable subscription = subscribe(wakeUps, "a")) {
            await().atMost(PATIENCE).until(() -> loopback.listens.get() > 4);
            assertThat(wakeUps.off()).isFalse();
            loopback.refused.set(false);
            awaitListening(wakeUps);
            assertThat(subscription).isNotNull();
        }
    }

    @Test
    void subscriberThatFails_keepsNoOtherFromBeingWoken() throws Exception {
        WakeUps wakeUps = new WakeUps(loopback, BRISK);
        try (AutoCloseable failing = wakeUps.subscribe(List.of("a"), () -> {
                    throw new AssertionError("boo");
                });
                AutoCloseable other = subscribe(wakeUps, "a")) {
            awaitListening(wakeUps);
            loopback.say("a"); // the other one may have come too late for what wakes all at the beginning
            await().atMost(PATIENCE).until(() -> !woken.isEmpty());
            assertThat(List.of(failing, other)).hasSize(2);
        }
    }
}
