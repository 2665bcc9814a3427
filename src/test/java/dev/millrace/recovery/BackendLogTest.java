package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.backend.Backend.Capability;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What is said of jobs of backends, and how often. */
@MillraceDatabase
@Isolated("reads what is logged")
class BackendLogTest {
    private final PostgresStore store;
    private final ManualClock clock = new ManualClock();
    private final FakeBackend farm = new FakeBackend("farm");
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final PrintStream before = System.err;

    BackendLogTest(TestDatabase database) {
        this.store = PostgresStore.on(database.dataSource(), database.schema());
    }

    @BeforeEach
    void readLog() {
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void close() {
        System.setErr(before);
    }

    private BackendReconciler reconciler() {
        return new BackendReconciler(
                BackendSettings.DEFAULT,
                new BackendStores(
                        store.reconcilable(),
                        store.remote(),
                        store.jobs(),
                        store.leases(),
                        store.results(),
                        store.controls()),
                List.of(farm),
                clock);
    }

    private Job submit() {
        NewJob job = NewJob.of("job-1", "k", JsonText.of("{}"));
        return store.jobs().submit(job.withSpec(job.spec().withBackend("farm"))).job();
    }

    private int said(String words) {
        return log.toString(StandardCharsets.UTF_8).split(words, -1).length - 1;
    }

    @Test
    void operationThatRunsOnAndCannotBeCancelled_isSaidOnce_howeverOftenItIsListed() {
        farm.capabilities.remove(Capability.CANCEL);
        try (BackendReconciler reconciler = reconciler()) {
            Job job = submit();
            reconciler.tick();
            Job running = store.jobs().get(job.id()).orElseThrow();
            assertThat(store.jobs().compareAndSet(running, running.withStatus(JobStatus.FAILED)))
                    .isTrue();
            for (int listing = 0; listing < 3; listing++) {
                reconciler.tick(); // reads the list
                reconciler.tick();
                clock.advance(Duration.ofSeconds(31));
            }
        }
        assertThat(said("runs on at the backend")).isOne();
    }
}
