package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Claims whose answers were lost. */
@Timeout(60)
class LostReplyTest {
    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Worker counting() {
        return fixture.start((payload, context) -> runs.incrementAndGet());
    }

    @Test
    void jobsOfAnUnansweredClaim_areFoundByTheirTokens_runOnce_andCostNoAttempt() {
        source.next(Op.CLAIM, Fault.lostReply());
        String first = source.submit("work");
        String second = source.submit("work");
        counting();
        until(source::allSucceeded);
        assertThat(runs).hasValue(2);
        assertThat(List.of(source.attempts(first), source.attempts(second))).containsExactly(1, 1);
        assertThat(source.recoverRequests.get(0))
                .containsExactlyElementsOf(source.claimRequests.get(0).tokens());
    }

    /** By then it may have been taken for dead, and be someone else's. */
    @Test
    void jobThatIsFoundLate_isStartedFirst() {
        fixture.tellingAfter(Duration.ofMillis(100));
        source.next(Op.CLAIM, Fault.lostReply());
        source.next(Op.RECOVER, Fault.failing(() -> {
            sleep(200);
            return new StoreUnavailableException("out of reach", null);
        }));
        source.submit("work");
        fixture.start((payload, context) -> runs.addAndGet(source.calls(Op.START)));
        until(source::allSucceeded);
        assertThat(runs).as("starts before the handler began").hasValue(1);
    }

    private static void sleep(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** No connection could be had, or the database has refused: then no job was taken, and none is looked for. */
    @Test
    void claimThatCertainlyTookNothing_isNotAskedAbout() {
        source.next(
                Op.CLAIM,
                Fault.failing(() -> new StoreUnavailableException("no connection", null, false)),
                Fault.failing(() -> new StoreException("canceled", null)));
        String id = source.submit("work");
        counting();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(source.calls(Op.RECOVER)).isZero();
        assertThat(runs).hasValue(1);
    }

    @Test
    void noOtherClaimIsMade_untilTheQuestionWasAnswered() {
        source.next(Op.CLAIM, Fault.lostReply());
        source.next(Op.RECOVER, Fault.down(), Fault.down());
        source.submit("work");
        counting();
        until(() -> source.calls(Op.RECOVER) == 2);
        assertThat(source.claimRequests).hasSize(1);
        until(source::allSucceeded);
        assertThat(runs).hasValue(1);
    }

    @Test
    void claimThatCommitsOnlyLater_isFound_whenTheQuestionIsAskedAgain() {
        source.next(Op.CLAIM, Fault.down());
        counting();
        until(() -> source.claimRequests.size() > 1); // asked once, told of none, and went on
        String id = source.submit("work");
        assertThat(source.commitLate(source.claimRequests.get(0))).hasSize(1);
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(runs).hasValue(1);
        assertThat(source.attempts(id)).isEqualTo(1);
    }

    @Test
    void jobThatIsFoundTwice_isRunOnce() {
        CountDownLatch gate = fixture.tellingFirst().gate();
        source.next(Op.CLAIM, Fault.lostReply());
        source.next(Op.START, Fault.gate(gate)); // so it is still not started when the question is asked again
        String id = source.submit("work");
        counting();
        until(() -> source.calls(Op.START) == 1);
        until(() -> source.calls(Op.RECOVER) >= 3);
        gate.countDown();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(runs).hasValue(1);
        assertThat(source.recoverRequests.get(1)).hasSize(9); // the token that has led to a job is not asked about
    }

    @Test
    void jobThatIsFoundTooLateForAFreeSlot_isHandedBack() throws InterruptedException {
        CountDownLatch gate = fixture.gate();
        source.next(Op.CLAIM, Fault.down());
        Worker worker = fixture.start(settings -> settings.withConcurrency(1), (payload, context) -> {
            runs.incrementAndGet();
            WorkerFixture.await(gate);
        });
        until(() -> source.claimRequests.size() > 1);
        String first = source.submit("work");
        worker.wakeUp();
        until(() -> source.status(first) == JobStatus.RUNNING);
        String late = source.submit("work");
        assertThat(source.commitLate(source.claimRequests.get(0))).hasSize(1);
        until(() -> source.forgiven(late) == 1);
        assertThat(source.status(late)).isEqualTo(JobStatus.QUEUED);
        assertThat(source.endings(late))
                .singleElement()
                .isInstanceOfSatisfying(
                        Finish.HandBack.class, back -> assertThat(back.delay()).isZero());
        gate.countDown();
        until(source::allSucceeded);
        assertThat(runs).hasValue(2);
    }

    @Test
    void questionThatCanNeverBeAnswered_doesNotKeepTheWorkerFromClaiming() {
        source.next(Op.CLAIM, Fault.down());
        source.always(Op.RECOVER, Fault.failing(() -> new IllegalStateException("bug")));
        String id = source.submit("work");
        counting();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
    }

    @Test
    void closingWorker_handsBackWhatAnUnansweredClaimHasTaken() {
        CountDownLatch inFlight = fixture.gate();
        CountDownLatch gate = fixture.gate();
        source.next(Op.CLAIM, new Fault() {
            @Override
            public <T> T around(Supplier<T> call) {
                inFlight.countDown();
                WorkerFixture.ignoringInterrupts(gate);
                return Fault.lostReply().around(call);
            }
        });
        source.next(Op.RECOVER, Fault.down());
        String id = source.submit("work");
        Worker worker = counting();
        until(() -> inFlight.getCount() == 0);
        Thread closer = new Thread(worker::close);
        closer.start();
        until(() -> worker.status().claiming() == WorkerStatus.Claiming.CLOSING);
        gate.countDown();
        until(() -> !closer.isAlive());
        assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
        assertThat(source.forgiven(id)).isEqualTo(1);
        assertThat(runs).hasValue(0);
    }

    // How often is asked, and for how long.

    private final UnansweredClaims claims = new UnansweredClaims(WorkerFixture.TIMINGS);

    private static ClaimRequest request(int limit) {
        return ClaimRequest.of(
                "worker", List.of(new ClaimRequest.Source("managed", "default")), List.of("work"), limit);
    }

    private static long seconds(double seconds) {
        return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void question_isAskedAtGrowingDistances_forTheRecoveryTime_fromTheFirstAnswer() {
        claims.add(request(2), seconds(9), seconds(10));
        assertThat(claims.unknown()).isTrue();
        assertThat(claims.due(seconds(10))).isTrue();
        long now = seconds(10_000); // a long outage: it is asked all the same
        claims.answered(List.of(), now);
        assertThat(claims.unknown()).isFalse();
        int asked = 0;
        while (claims.nextAsk() != Long.MAX_VALUE) {
            assertThat(claims.nextAsk()).isGreaterThan(now).isLessThanOrEqualTo(seconds(10_090));
            now = claims.nextAsk();
            claims.answered(List.of(), now);
            asked++;
        }
        assertThat(asked).isBetween(5, 10);
        assertThat(claims.tokens()).isEmpty();
    }

    @Test
    void foundTokens_areNotAskedAboutAgain_andTheirTimeIsThatOfTheRequest() {
        ClaimRequest request = request(2);
        claims.add(request, seconds(1), seconds(2));
        UUID token = request.tokens().get(0);
        Claim found = new Claim(Job.of("id", JobSpec.of("work", JsonText.of("{}")), Instant.EPOCH), token, 0);
        assertThat(claims.askedAt(token, 0)).isEqualTo(seconds(1));
        claims.answered(List.of(found), seconds(3));
        assertThat(claims.tokens()).containsExactly(request.tokens().get(1));
        assertThat(claims.askedAt(token, 7)).isEqualTo(7);
    }

    @Test
    void endlessLosses_areBounded_theOldestAreForgotten() {
        for (int i = 0; i < 50; i++) {
            claims.add(request(ClaimRequest.MAX_LIMIT), seconds(i), seconds(i));
            claims.answered(List.of(), seconds(i));
        }
        assertThat(claims.tokens()).hasSizeLessThanOrEqualTo(10 * ClaimRequest.MAX_LIMIT);
    }

    @Test
    void backoff_growsToTwoSeconds() {
        Backoff backoff = new Backoff();
        assertThat(LongStream.generate(backoff::next).limit(6).map(TimeUnit.NANOSECONDS::toMillis))
                .containsExactly(200L, 500L, 1_000L, 2_000L, 2_000L, 2_000L);
        assertThat(backoff.failures()).isEqualTo(6);
        backoff.reset();
        assertThat(Duration.ofNanos(backoff.next())).isEqualTo(Duration.ofMillis(200));
    }
}
