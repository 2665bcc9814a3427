package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobStore;
import dev.millrace.store.RunnerCapability;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@MillraceDatabase
@Timeout(60)
class ReadinessTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final TestDatabase database;
    private final Millrace millrace;

    ReadinessTest(TestDatabase database) {
        this.database = database;
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    @Test
    void readiness_ofAMigratedDatabase_isThere() {
        Readiness readiness = millrace.readiness(PATIENCE);
        assertThat(readiness.ready()).as("%s", readiness).isTrue();
        assertThat(readiness.reason()).isNull();
        assertThat(readiness.took()).isPositive();
    }

    @Test
    void readiness_withoutASchema_isNot_andSaysWhatToDo() {
        Readiness readiness = millrace.withSchema("not there").readiness(PATIENCE);
        assertThat(readiness.ready()).isFalse();
        assertThat(readiness.reason()).contains("not there").contains("migrate()");
    }

    @Test
    void readiness_ofAReadOnlyDatabase_isNot() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setConnectionInitSql("SET default_transaction_read_only = on");
        try (HikariDataSource readOnly = new HikariDataSource(config)) {
            Readiness readiness =
                    Millrace.on(readOnly).withSchema(database.schema()).readiness(PATIENCE);
            assertThat(readiness.ready()).isFalse();
            assertThat(readiness.reason()).contains("read-only");
        }
    }

    @Test
    void probe_ofADatabaseThatHangs_isBounded_andAsksNoSecondTime() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicInteger questions = new AtomicInteger();
        ReadinessProbe probe = new ReadinessProbe(() -> {
            questions.incrementAndGet();
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        for (int i = 0; i < 3; i++) {
            Readiness readiness = probe.ask(Duration.ofMillis(20));
            assertThat(readiness.ready()).isFalse();
            assertThat(readiness.reason()).contains("has not answered within PT0.02S");
        }
        List<CompletableFuture<Readiness>> waiting = IntStream.range(0, 4)
                .mapToObj(i -> OwnThread.supply(() -> probe.ask(PATIENCE)))
                .toList();
        assertThat(questions).hasValue(1);
        gate.countDown();
        for (CompletableFuture<Readiness> answer : waiting) {
            assertThat(answer.get(30, TimeUnit.SECONDS).ready()).isTrue();
        }
        await().until(() -> probe.ask(PATIENCE).ready() && questions.get() >= 2);
    }

    /** The first two hang for ever, as on connections whose other end is gone. */
    @Test
    void probe_whoseConnectionIsLost_asksOnAnother_butNotOnEverMore() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicInteger questions = new AtomicInteger();
        AtomicInteger hanging = new AtomicInteger(2);
        ReadinessProbe probe = new ReadinessProbe(
                () -> {
                    if (questions.incrementAndGet() <= hanging.get()) {
                        try {
                            gate.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                },
                Duration.ofMillis(50));
        await().until(() -> probe.ask(Duration.ofMillis(20)).ready());
        assertThat(questions).hasValue(3);
        hanging.set(Integer.MAX_VALUE);
        for (int i = 0; i < 10; i++) {
            assertThat(probe.ask(Duration.ofMillis(60)).ready()).isFalse();
        }
        assertThat(questions).hasValue(4);
        gate.countDown();
        await().until(() -> probe.ask(PATIENCE).ready());
    }

    @Test
    void probe_thatFails_saysWhy_alsoByAnError_andAsksAgain() {
        AtomicInteger questions = new AtomicInteger();
        ReadinessProbe probe = new ReadinessProbe(() -> {
            if (questions.incrementAndGet() == 1) {
                throw new NoClassDefFoundError("on purpose");
            }
        });
        assertThat(probe.ask(PATIENCE).reason()).contains("on purpose");
        assertThat(probe.ask(PATIENCE).ready()).isTrue();
    }

    @Test
    void capability_followsConfiguration_notReachability() {
        assertThat(RunnerCapability.NAME).isEqualTo("jobs.runner");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://localhost:1/nowhere");
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(250);
        try (HikariDataSource nowhere = new HikariDataSource(config)) {
            Millrace unreachable = Millrace.on(nowhere);
            assertThat(unreachable.capability()).isEqualTo(RunnerCapability.AVAILABLE);
            assertThat(unreachable.readiness(PATIENCE).ready()).isFalse();
        }
        JobStore store = millrace.jobs();
        JobQueue queue = millrace.queue();
        assertThat(RunnerCapability.of(store, queue).literal()).isEqualTo("Available");
        assertThat(RunnerCapability.of(null, queue).literal()).isEqualTo("JobStoreNotConfigured");
        assertThat(RunnerCapability.of(store, null).literal()).isEqualTo("JobQueueNotRegistered");
    }
}
