package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.WORK;
import static dev.millrace.worker.WorkerFixture.attempts;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import dev.millrace.worker.WorkerListener.End;
import dev.millrace.worker.WorkerListener.JobAttempt;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What listeners are told, and that nothing depends on how they behave. */
@Timeout(60)
class WorkerListenerTest {
    /** Writes down what it is told. */
    private static class Recorder implements WorkerListener {
        final List<Object> events = new CopyOnWriteArrayList<>();
        final List<Thread> threads = new CopyOnWriteArrayList<>();

        @Override
        public void opened(Worker worker) {
            events.add("opened " + worker.settings().name());
        }

        @Override
        public void closed(Worker worker) {
            events.add("closed " + worker.settings().name());
        }

        @Override
        public void claimed(Claimed event) {
            events.add(event);
        }

        @Override
        public void claimFailed(ClaimFailed event) {
            events.add(event);
        }

        @Override
        public void started(Started event) {
            threads.add(Thread.currentThread());
            events.add(event);
        }

        @Override
        public void ended(Ended event) {
            events.add(event);
        }

        @Override
        public void lost(Lost event) {
            events.add(event);
        }

        @Override
        public void heartbeatsFailed(HeartbeatsFailed event) {
            events.add(event);
        }

        @Override
        public void heartbeatsAnswered(String worker) {
            events.add("answered " + worker);
        }

        <T> List<T> all(Class<T> type) {
            return events.stream().filter(type::isInstance).map(type::cast).toList();
        }

        List<End> ends() {
            return all(Ended.class).stream().map(Ended::how).toList();
        }
    }

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final Recorder recorder = new Recorder();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Worker start(JobHandler<String> handler) {
        return fixture.track(
                fixture.setup().handle(WORK, handler).listener(recorder).start());
    }

    private static JobAttempt attempt(String id, int number) {
        return new JobAttempt(id, "work", "default", "managed", number, "worker");
    }

    @Test
    void listener_isToldOfAWholeRun_onAThreadOfItsOwn() {
        String id = source.submit("work");
        source.forgive(id, 4, 4);
        CountDownLatch gate = fixture.gate();
        Worker worker = start((payload, context) -> WorkerFixture.await(gate));
        until(() -> !recorder.all(WorkerListener.Started.class).isEmpty());
        assertThat(recorder.all(WorkerListener.Ended.class)).isEmpty();
        gate.countDown();
        until(() -> source.allSucceeded());
        worker.close();

        assertThat(recorder.events.get(0)).isEqualTo("opened worker");
        assertThat(recorder.events.get(recorder.events.size() - 1)).isEqualTo("closed worker");
        assertThat(recorder.all(WorkerListener.Claimed.class)).first().satisfies(event -> {
            assertThat(event.asked()).isEqualTo(worker.settings().concurrency());
            assertThat(event.got()).isEqualTo(1);
            assertThat(event.took()).isPositive();
        });
        assertThat(recorder.all(WorkerListener.Claimed.class))
                .extracting(WorkerListener.Claimed::got)
                .contains(0);
        assertThat(recorder.all(WorkerListener.Started.class))
                .singleElement()
                .isEqualTo(new WorkerListener.Started(attempt(id, 5), null));
        assertThat(recorder.all(WorkerListener.Ended.class)).singleElement().satisfies(event -> {
            assertThat(event.attempt()).isEqualTo(attempt(id, 5));
            assertThat(event.finish()).isEqualTo(new Finish.Succeed());
            assertThat(event.ran()).isPositive();
        });
        assertThat(recorder.threads).singleElement().satisfies(thread -> {
            assertThat(thread.getName()).isEqualTo("millrace-worker-listener");
            assertThat(thread.isDaemon()).isTrue();
        });
    }

    @Test
    void ends_areToldAsTheyWereWritten() {
        source.submit("work", "{}", attempts(2));
        start((payload, context) -> {
            throw new IllegalStateException("on purpose");
        });
        until(() -> recorder.ends().size() >= 2);
        assertThat(recorder.ends()).containsExactly(End.RETRIED, End.FAILED);
        assertThat(recorder.all(WorkerListener.Ended.class).get(1).finish().note())
                .contains("on purpose");
        assertThat(recorder.all(WorkerListener.Started.class)).hasSize(2);
    }

    @Test
    void endOfAJob_thatWasCancelledBeforeItsHandlerWasCalled_isTold() {
        source.cancel(source.submit("work", BRISK));
        start((payload, context) -> {});
        until(() -> !recorder.ends().isEmpty());
        assertThat(recorder.ends()).containsExactly(End.CANCELLED);
        assertThat(recorder.all(WorkerListener.Ended.class).get(0).ran()).isZero();
        assertThat(recorder.all(WorkerListener.Started.class)).isEmpty();
    }

    @Test
    void handBack_isTold_whenTheWorkerCloses() {
        source.submit("work");
        CountDownLatch started = new CountDownLatch(1);
        Worker worker = fixture.track(fixture.setup()
                .settings(settings -> settings.withDrainTimeout(Duration.ZERO))
                .handle(WORK, (payload, context) -> {
                    started.countDown();
                    new CountDownLatch(1).await();
                })
                .listener(recorder)
                .start());
        until(() -> started.getCount() == 0);
        worker.close();
        assertThat(recorder.ends()).containsExactly(End.HANDED_BACK);
        assertThat(recorder.all(WorkerListener.Ended.class).get(0).ran()).isPositive();
    }

    @Test
    void end_isToldOnlyOnceItIsWritten() {
        source.always(Op.FINISH, Fault.down());
        source.submit("work");
        start((payload, context) -> {});
        until(() -> source.calls(Op.FINISH) >= 2);
        assertThat(recorder.ends()).isEmpty();
        source.heal(Op.FINISH);
        until(() -> recorder.ends().size() == 1);
        assertThat(recorder.ends()).containsExactly(End.SUCCEEDED);
    }

    @Test
    void end_thatIsRefused_isToldAsLost() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work");
        start((payload, context) -> WorkerFixture.await(gate));
        until(() -> source.status(id) == JobStatus.RUNNING);
        source.failElsewhere(id);
        gate.countDown();
        until(() -> !recorder.all(WorkerListener.Lost.class).isEmpty());
        assertThat(recorder.all(WorkerListener.Lost.class)).singleElement().satisfies(event -> {
            assertThat(event.attempt()).isEqualTo(attempt(id, 1));
            assertThat(event.ran()).isPositive();
        });
        assertThat(recorder.ends()).isEmpty();
    }

    @Test
    void ends_thatAreWrittenTogether_areToldOneByOne_andWhatWasRefusedAsLost() {
        List<String> ids = source.submit(3, "work");
        CountDownLatch gate = fixture.gate();
        fixture.track(fixture.setup()
                .settings(settings -> settings.withOutcomeBuffer(new OutcomeBuffer(3, Duration.ofSeconds(10))))
                .handle(WORK, (payload, context) -> WorkerFixture.await(gate))
                .listener(recorder)
                .start());
        until(() -> recorder.all(WorkerListener.Started.class).size() == 3);
        source.failElsewhere(ids.get(1));
        gate.countDown();
        until(() -> recorder.ends().size() == 2
                && !recorder.all(WorkerListener.Lost.class).isEmpty());
        assertThat(recorder.all(WorkerListener.Ended.class))
                .extracting(event -> event.attempt().jobId())
                .containsExactlyInAnyOrder(ids.get(0), ids.get(2));
        assertThat(recorder.all(WorkerListener.Lost.class))
                .extracting(event -> event.attempt().jobId())
                .containsExactly(ids.get(1));
    }

    @Test
    void end_thatTheHandlersTransactionHasWritten_isToldOnce() {
        source.submit("work", BRISK);
        CountDownLatch gate = fixture.gate();
        Worker worker = start((payload, context) -> {
            context.completeIn(source);
            WorkerFixture.await(gate);
        });
        until(() -> recorder.ends().size() == 1); // found out by a beat
        gate.countDown();
        until(() -> worker.status().running() == 0);
        worker.close();
        assertThat(recorder.ends()).containsExactly(End.SUCCEEDED);
        assertThat(recorder.all(WorkerListener.Lost.class)).isEmpty();
    }

    @Test
    void loss_thatABeatFindsOut_isToldOnce() {
        String id = source.submit("work", BRISK);
        Worker worker = start((payload, context) -> new CountDownLatch(1).await());
        until(() -> source.status(id) == JobStatus.RUNNING);
        source.failElsewhere(id);
        until(() -> worker.status().running() == 0);
        worker.close();
        assertThat(recorder.all(WorkerListener.Lost.class)).hasSize(1);
        assertThat(recorder.ends()).isEmpty();
    }

    @Test
    void loss_thatAReportOfProgressFindsOut_isToldOnce() {
        String id = source.submit("work");
        CountDownLatch gate = fixture.gate();
        Worker worker = start((payload, context) -> {
            WorkerFixture.await(gate);
            context.progress(50);
        });
        until(() -> source.status(id) == JobStatus.RUNNING);
        source.failElsewhere(id);
        gate.countDown();
        until(() -> worker.status().running() == 0);
        worker.close();
        assertThat(recorder.all(WorkerListener.Lost.class)).hasSize(1);
    }

    @Test
    void loss_beforeTheStart_isTold_withoutARun() {
        fixture.tellingFirst();
        source.next(Op.START, Fault.before(() -> source.failElsewhere("work-1")));
        String id = source.submit("work");
        Worker worker = start((payload, context) -> {});
        until(() -> !recorder.all(WorkerListener.Lost.class).isEmpty());
        worker.close();
        assertThat(recorder.all(WorkerListener.Lost.class))
                .singleElement()
                .isEqualTo(new WorkerListener.Lost(attempt(id, 1), Duration.ZERO));
        assertThat(recorder.all(WorkerListener.Started.class)).isEmpty();
    }

    @Test
    void claimsAndBeatsThatFail_areTold_andThatTheyAreAnsweredAgain() {
        source.next(Op.CLAIM, Fault.down());
        CountDownLatch gate = fixture.gate();
        source.submit("work", BRISK);
        start((payload, context) -> WorkerFixture.await(gate));
        until(() -> !recorder.all(WorkerListener.Started.class).isEmpty());
        assertThat(recorder.all(WorkerListener.ClaimFailed.class))
                .singleElement()
                .satisfies(event -> assertThat(event.failure()).hasMessageContaining("out of reach"));

        source.always(Op.BEAT, Fault.down());
        until(() -> recorder.all(WorkerListener.HeartbeatsFailed.class).size() >= 2);
        assertThat(recorder.events).doesNotContain("answered worker");
        source.heal(Op.BEAT);
        until(() -> recorder.events.contains("answered worker"));
        assertThat(recorder.all(WorkerListener.HeartbeatsFailed.class))
                .allSatisfy(event -> assertThat(event.attempts()).isEqualTo(1));
    }

    @Test
    void listeners_thatThrowOrHang_harmNeitherJobsNorEachOther() throws Exception {
        class Bad extends Recorder {
            @Override
            public void claimed(Claimed event) {
                throw new AssertionError("on purpose");
            }

            @Override
            public void started(Started event) {
                throw new StackOverflowError("on purpose");
            }

            @Override
            public void ended(Ended event) {
                super.ended(event);
                throw new IllegalStateException("on purpose");
            }
        }
        Bad bad = new Bad();
        CountDownLatch interrupted = new CountDownLatch(1);
        WorkerListener hanging = new WorkerListener() {
            @Override
            public void opened(Worker worker) {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
            }
        };
        List<String> ids = source.submit(3, "work");
        Worker worker = fixture.track(fixture.setup()
                .handle(WORK, (payload, context) -> {})
                .listener(hanging)
                .listener(bad)
                .listener(recorder)
                .start());
        until(() -> recorder.ends().size() == 3 && bad.ends().size() == 3);
        assertThat(ids).allSatisfy(id -> assertThat(source.status(id)).isEqualTo(JobStatus.SUCCEEDED));
        worker.close();
        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(worker.status().claiming()).isEqualTo(WorkerStatus.Claiming.CLOSED);
    }

    @Test
    void interceptors_standAroundTheHandler_theFirstOutermost() {
        List<String> order = new CopyOnWriteArrayList<>();
        String id = source.submit("work");
        fixture.track(fixture.setup()
                .handle(WORK, (payload, context) -> order.add("handler"))
                .intercept((context, handler) -> {
                    order.add("first " + context.job().id());
                    handler.proceed();
                    order.add("first over");
                })
                .intercept((context, handler) -> {
                    order.add("second");
                    handler.proceed();
                })
                .listener(recorder)
                .start());
        until(() -> recorder.ends().size() == 1);
        assertThat(order).containsExactly("first " + id, "second", "handler", "first over");
    }

    @Test
    void interceptor_thatThrows_failsTheAttempt() {
        source.submit("work", attempts(1));
        fixture.track(fixture.setup()
                .handle(WORK, (payload, context) -> {})
                .intercept((context, handler) -> {
                    handler.proceed();
                    throw new IllegalStateException("on purpose");
                })
                .listener(recorder)
                .start());
        until(() -> recorder.ends().size() == 1);
        assertThat(recorder.ends()).containsExactly(End.FAILED);
    }
}
