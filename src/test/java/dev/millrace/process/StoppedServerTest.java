package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.process.OrderedHandler.RETURN;
import static dev.millrace.process.OutageStage.BRISK;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.StopMode;
import dev.millrace.job.Job;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The server is stopped for longer than a heartbeat timeout, in order or by a crash, and started again. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class StoppedServerTest {
    private static final int ROUNDS = 5;
    private static final Duration OUTAGE = Duration.ofMillis(1_500);
    private static final int LENIENCE = 10;

    private final OutageStage stage = new OutageStage();
    private final Scene scene = stage.scene;

    @AfterEach
    void startAgain() {
        stage.server.startAgain();
    }

    @AfterAll
    void close() {
        stage.close();
    }

    static Stream<Arguments> rounds() {
        return Stream.of(StopMode.values())
                .flatMap(mode -> IntStream.rangeClosed(1, ROUNDS).mapToObj(round -> Arguments.of(mode, round)));
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void outage_longerThanTheHeartbeatTimeout_interruptsNoHandler_andCostsNoAttempt(StopMode mode, int round)
            throws InterruptedException {
        stage.passOutage(() -> stage.server.stop(mode), stage.server::startAgain);
    }

    @Test
    void jobOfAWorkerThatDiedInTheOutage_isRecovered_onceTheStoreWasWatchedForATimeout() throws InterruptedException {
        ChildJvm doomed = scene.startWorker("doomed");
        String id = scene.submit(Task.STUBBORN, heartbeat(BRISK), retry(RetryPolicy.fixed(2, ZERO)))
                .id();
        doomed.awaitEvent("started " + id + " 1");
        stage.awaitTrust();

        stage.server.stop(StopMode.FAST);
        doomed.kill();
        Thread.sleep(OUTAGE.toMillis());
        stage.server.startAgain();

        try (Worker heir = stage.startWorker(Task.STUBBORN)) {
            Scene.until(() -> stage.events.contains("started " + id + " 2"));
            stage.handler.order(id, 2, RETURN);
            Job job = scene.awaitEnd(id);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.state().claimedBy()).isEqualTo(heir.settings().name());
            assertThat(job.outcome().history()).hasSize(1);
            PastAttempt lost = job.outcome().history().get(0);
            assertThat(lost.ending()).isEqualTo(PastAttempt.Ending.EXPIRED);
            assertThat(lost.worker()).isEqualTo("doomed");
            Instant back = scene.serverStartedAt();
            assertThat(lost.endedAt())
                    .isAfter(back.plus(BRISK.timeout()))
                    .isBefore(back.plus(BRISK.timeout().multipliedBy(LENIENCE)));
        }
    }
}
