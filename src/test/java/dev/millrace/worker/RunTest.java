package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.WORK;
import static dev.millrace.worker.WorkerFixture.attempts;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobType;
import dev.millrace.job.Messages;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Claiming, running, and what comes of handlers that return or throw. */
@Timeout(60)
class RunTest {
    private static final Duration SHORT = Duration.ofMillis(10);

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;

    @AfterEach
    void close() {
        fixture.close();
    }

    // Claims.

    @Test
    void jobs_areRunOnce_andSucceed() {
        List<String> ids = source.submit(50, "work");
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        fixture.start((payload, context) -> runs.merge(context.job().id(), 1, Integer::sum));
        until(source::allSucceeded);
        assertThat(runs)
                .containsOnlyKeys(ids)
                .allSatisfy((id, times) -> assertThat(times).isEqualTo(1));
    }

    @Test
    void whileThereIsWork_aFreeSlotIsFilled_withoutWaitingForThePoll() {
        // The poll interval is an hour, and there are 15 times as many jobs as slots.
        source.submit(30, "work");
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        fixture.start(settings -> settings.withConcurrency(2), (payload, context) -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            source.calls(Op.CLAIM);
            running.decrementAndGet();
        });
        until(source::allSucceeded);
        assertThat(most).hasValueLessThanOrEqualTo(2);
    }

    @Test
    void claims_askForFreeSlotsOnly_upToTheLimit_oneCallAtATime() throws InterruptedException {
        CountDownLatch gate = fixture.gate();
        source.submit(20, "work");
        Worker worker = fixture.start(
                settings -> settings.withConcurrency(7).withClaimLimit(3),
                (payload, context) -> WorkerFixture.await(gate));
        until(() -> worker.status().running() == 7);
        assertThat(source.claimRequests).extracting(ClaimRequest::limit).containsExactly(3, 3, 1);
        gate.countDown();
        until(source::allSucceeded);
        assertThat(source.claimRequests).extracting(ClaimRequest::limit).allMatch(limit -> limit <= 3);
        assertThat(source.mostClaimsInFlight).hasValue(1);
    }

    @Test
    void claims_areForKindsThatHaveHandlers() {
        String other = source.submit("other");
        String mine = source.submit("work");
        fixture.start((payload, context) -> {});
        until(() -> source.status(mine) == JobStatus.SUCCEEDED);
        assertThat(source.status(other)).isEqualTo(JobStatus.QUEUED);
        assertThat(source.claimRequests)
                .allSatisfy(request -> assertThat(request.kinds()).containsExactly("work"));
    }

    @Test
    void sources_takeTurnsInBeingTheFirst() {
        fixture.start(
                settings -> settings.withRuntimeProfiles(List.of("p", "q"))
                        .withQueues(List.of("x", "y"))
                        .withPollInterval(SHORT),
                (payload, context) -> {});
        until(() -> source.claimRequests.size() >= 5);
        assertThat(List.copyOf(source.claimRequests).subList(0, 5))
                .extracting(request -> request.sources().get(0).runtimeProfile()
                        + request.sources().get(0).queue())
                .containsExactly("px", "py", "qx", "qy", "px");
        assertThat(source.claimRequests).allMatch(request -> request.sources().size() == 4);
    }

    @Test
    void eachRequest_hasFreshTokens() {
        fixture.start(settings -> settings.withPollInterval(SHORT), (payload, context) -> {});
        until(() -> source.claimRequests.size() >= 5);
        assertThat(source.claimRequests.stream().flatMap(request -> request.tokens().stream()))
                .doesNotHaveDuplicates();
    }

    @Test
    void claimThatIsAnsweredTwiceUnderOneToken_isRunOnce() {
        source.next(Op.CLAIM, new Fault() {
            @Override
            @SuppressWarnings("unchecked") // a claim's answer is a list
            public <T> T around(Supplier<T> call) {
                List<Object> once = (List<Object>) call.get();
                return (T) Stream.concat(once.stream(), once.stream()).toList();
            }
        });
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work");
        String next = source.submit("work");
        Worker worker = fixture.start((payload, context) -> {
            runs.incrementAndGet();
            WorkerFixture.await(gate);
        });
        until(() -> runs.get() == 2);
        assertThat(worker.status().running()).isEqualTo(2);
        gate.countDown();
        until(() -> source.status(id) == JobStatus.SUCCEEDED && source.status(next) == JobStatus.SUCCEEDED);
        until(() -> worker.status().running() == 0);
        assertThat(runs).hasValue(2);
    }

    @Test
    void idleWorker_polls() {
        fixture.start(settings -> settings.withPollInterval(SHORT), (payload, context) -> {});
        until(() -> source.calls(Op.CLAIM) > 3);
        String id = source.submit("work");
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
    }

    @Test
    void idleWorker_thatIsWoken_claimsAtOnce() {
        Worker worker = fixture.start((payload, context) -> {});
        until(() -> source.calls(Op.CLAIM) == 1);
        String id = source.submit("work");
        worker.wakeUp();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
    }

    @Test
    void failingClaims_areShown_andClaimingGoesOnByItself() {
        source.next(Op.CLAIM, Fault.down(), Fault.failing(() -> new AssertionError("boo")));
        CountDownLatch gate = fixture.gate();
        source.next(Op.RECOVER, Fault.gate(gate));
        String id = source.submit("work");
        Worker worker = fixture.start((payload, context) -> {});
        until(() -> worker.status().claiming() == WorkerStatus.Claiming.STORE_FAILS);
        assertThat(worker.status().healthy()).isFalse();
        assertThat(worker.status().lastError()).contains("out of reach");
        assertThat(worker.status().lastErrorAt()).isNotNull();
        gate.countDown();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        until(() -> worker.status().healthy());
    }

    // What the handler is told.

    @Test
    void context_tellsAboutTheAttempt() {
        String id = source.submit("work", "{\"file\":\"cat.png\"}", JobPolicies.DEFAULT);
        source.forgive(id, 4, 3);
        AtomicReference<String> seen = new AtomicReference<>();
        Worker worker = fixture.start((payload, context) -> seen.set(payload
                + context.job().id()
                + context.attempt()
                + context.worker()
                + context.cancelled()
                + context.stopReason().isPresent()
                + source.status(id).isClaimed()));
        until(source::allSucceeded);
        assertThat(seen).hasValue("{\"file\":\"cat.png\"}" + id + "5workerfalsefalsetrue");
        assertThat(worker.settings().name()).isEqualTo("worker");
    }

    // How it ends.

    @Test
    void failedHandler_isRetried_byThePolicyOfTheJob_untilItsAttemptsAreUsedUp() {
        RetryPolicy policy = RetryPolicy.fixed(3, Duration.ofMillis(7));
        String id = source.submit("work", WorkerFixture.BRISK.withRetry(policy));
        fixture.start(settings -> settings.withPollInterval(SHORT), (payload, context) -> {
            throw new IllegalStateException("no. " + context.attempt());
        });
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(source.endings(id))
                .containsExactly(
                        new Finish.Retry(Duration.ofMillis(7), "java.lang.IllegalStateException: no. 1"),
                        new Finish.Retry(Duration.ofMillis(7), "java.lang.IllegalStateException: no. 2"),
                        new Finish.Fail("java.lang.IllegalStateException: no. 3", Finish.Fail.Reason.HANDLER));
    }

    @Test
    void forgivenAttempts_doNotCountAgainstTheMaximum() {
        String id = source.submit("work", attempts(3));
        source.forgive(id, 8, 7);
        fixture.start(settings -> settings.withPollInterval(SHORT), (payload, context) -> {
            throw new IllegalStateException("failed");
        });
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(source.attempts(id)).isEqualTo(10); // of which 7 were forgiven and 3 count
        assertThat(source.endings(id)).hasSize(2).first().isInstanceOf(Finish.Retry.class);
    }

    static List<Supplier<Throwable>> errors() {
        return List.of(
                () -> new StackOverflowError("deep"),
                () -> new OutOfMemoryError("large"),
                () -> new NoClassDefFoundError("gone"),
                () -> new ExceptionInInitializerError("init"),
                () -> new AssertionError("wrong"),
                () -> new InterruptedException("by itself"),
                () -> new RuntimeException((String) null),
                () -> new RuntimeException("no message") {
                    @Override
                    public String getMessage() {
                        throw new IllegalStateException("not even that");
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("errors")
    void whateverAHandlerThrows_failsItsJob_andNothingElse(Supplier<Throwable> failure) {
        String bad = source.submit("bad", attempts(1));
        Worker worker = fixture.track(fixture.setup()
                .settings(settings -> settings.withConcurrency(1))
                .handle(JobType.of("bad", String.class), (payload, context) -> sneak(failure.get()))
                .handle(WORK, (payload, context) -> {})
                .start());
        until(() -> source.status(bad) == JobStatus.FAILED);
        assertThat(source.endings(bad))
                .singleElement()
                .isInstanceOfSatisfying(
                        Finish.Fail.class,
                        fail -> assertThat(fail.message())
                                .contains(failure.get().getClass().getName()));
        String good = source.submit("work");
        worker.wakeUp();
        until(() -> source.status(good) == JobStatus.SUCCEEDED);
    }

    @Test
    void realStackOverflow_failsItsJob_andNothingElse() {
        String id = source.submit("work", attempts(1));
        fixture.start((payload, context) -> endless(1));
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(source.endings(id).get(0).note()).startsWith("java.lang.StackOverflowError");
    }

    @SuppressWarnings("InfiniteRecursion")
    private static int endless(int depth) {
        return 1 + endless(depth + 1);
    }

    @Test
    void messages_areBoundedAndCleaned() {
        String id = source.submit("work", attempts(1));
        fixture.start((payload, context) -> {
            throw new IllegalStateException("nul \0 lone \uD800 " + "x".repeat(10_000));
        });
        until(() -> source.status(id) == JobStatus.FAILED);
        Finish.Fail fail = (Finish.Fail) source.endings(id).get(0);
        assertThat(fail.message())
                .hasSizeLessThanOrEqualTo(Messages.MAX_CHARACTERS)
                .doesNotContain("\0", "\uD800");
    }

    @Test
    void undecodablePayload_failsOnlyItsJob_throughTheRetryPolicy() {
        String bad = source.submit("work", "{\"undecodable\":1}", attempts(2));
        String good = source.submit("work");
        fixture.start(settings -> settings.withPollInterval(SHORT), (payload, context) -> {});
        until(() -> source.status(bad) == JobStatus.FAILED && source.status(good) == JobStatus.SUCCEEDED);
        assertThat(source.endings(bad)).hasSize(2).first().isInstanceOf(Finish.Retry.class);
        assertThat(source.endings(bad).get(1).note())
                .contains("PayloadException")
                .contains("no such field");
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }
}
