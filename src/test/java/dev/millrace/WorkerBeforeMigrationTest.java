package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.devdb.Database;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that comes before the one that migrates. */
@MillraceDatabase
@Timeout(120)
class WorkerBeforeMigrationTest {
    record Work(String what) {}

    private static final JobType<Work> WORK = JobType.of("work", Work.class);

    private final TestDatabase neighbour;

    WorkerBeforeMigrationTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @Test
    void worker_startedBeforeTheSchemaIsThere_worksWhenItIs() throws InterruptedException {
        Database empty = neighbour.server().createDatabase("before_migration_" + System.nanoTime());
        Millrace millrace = Millrace.on(empty.dataSource());
        try (Worker worker = millrace.worker()
                .handle(WORK, (payload, context) -> {})
                .pollInterval(Duration.ofMillis(20))
                .start()) {
            await().atMost(Duration.ofSeconds(60)).until(() -> worker.status().claiming() == Claiming.STORE_FAILS);
            assertThat(worker.status().lastError()).contains("schema \"millrace\" is not there");
            assertThatThrownBy(() -> millrace.submit(WORK, new Work("x"))).isInstanceOf(SchemaNotReadyException.class);
            millrace.migrate();
            Job job = millrace.submit(WORK, new Work("x"));
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
        } finally {
            empty.drop();
        }
    }
}
