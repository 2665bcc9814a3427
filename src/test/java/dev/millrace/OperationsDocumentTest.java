package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Controls;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.Worker;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The SQL of {@code docs/operations.md} runs, and the way through a restored backup leads to its end. */
@MillraceDatabase
@Timeout(60)
class OperationsDocumentTest {
    private static final JobType<JsonText> WORK = JobType.of("work", JsonText.class);
    private static final JsonText NOTHING = JsonText.of("{}");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final TestDatabase database;
    private final Millrace millrace;
    private final List<String> blocks;

    OperationsDocumentTest(TestDatabase database) {
        this.database = database;
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        this.blocks = SqlBlocks.of(Path.of("../docs/operations.md")).stream()
                .map(sql -> sql.replace("millrace.", "\"" + database.schema() + "\"."))
                .toList();
    }

    @Test
    void restoredBackup_isLookedThrough_whileNothingIsClaimed_andGoesOnAfterwards() throws Exception {
        Job waiting = millrace.submit(WORK, NOTHING);
        Job held = millrace.submit(WORK, NOTHING);
        Assignment.Taken lost = (Assignment.Taken) millrace.queue().claim(AssignedClaim.of("gone", held.id()));
        for (String block : blocks) {
            run(block);
        }
        Controls.Hold hold = millrace.controls().held().orElseThrow();
        assertThat(hold.why()).isEqualTo("backup of 02:00 restored");
        assertThat(hold.by()).isEqualTo(database.user());

        assertThat(millrace.queue().requeue(lost.claim().attempt(), Duration.ZERO))
                .isTrue();
        CountDownLatch ran = new CountDownLatch(2);
        try (Worker worker = millrace.worker()
                .handle(WORK, (payload, context) -> ran.countDown())
                .pollInterval(Duration.ofMillis(20))
                .start()) {
            assertThat(millrace.readiness(PATIENCE).ready()).isTrue();
            assertThat(ran.await(300, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(ran.getCount()).isEqualTo(2);
            assertThat(millrace.controls().release("anna")).contains(hold);
            assertThat(millrace.await(waiting, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            Job again = millrace.await(held, PATIENCE);
            assertThat(again.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(again.state().attemptCount() - 1)
                    .isEqualTo(again.outcome().history().size());
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    /** The statements of a block, one by one, as psql sends them. */
    private void run(String block) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : block.split(";\\s*\n", -1)) {
                if (!sql.isBlank()) {
                    statement.execute(sql);
                }
            }
        }
    }
}
