package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.ignoringInterrupts;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Starting and closing. */
@Timeout(60)
class ShutdownTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final AtomicReference<JobContext> context = new AtomicReference<>();
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Thread closing(Worker worker) {
        Thread closer = new Thread(worker::close, "closer");
        closer.start();
        until(() -> worker.status().claiming() == Claiming.CLOSING || !closer.isAlive());
        return closer;
    }

    @Test
    void idleWorker_closesAtOnce_thoughItsPollIntervalIsAnHour() {
        Worker worker = fixture.start((payload, attempt) -> {});
        until(() -> source.calls(Op.CLAIM) == 1);
        worker.close();
        assertThat(worker.status().claiming()).isEqualTo(Claiming.CLOSED);
    }

    @Test
    void handlersThatFinishInTime_succeed_andNothingMoreIsClaimed() {
        CountDownLatch gate = fixture.gate();
        String running = source.submit("work", BRISK);
        Worker worker = fixture.start((payload, attempt) -> {
            context.set(attempt);
            gate.await();
        });
        until(() -> context.get() != null);
        Thread closer = closing(worker);
        String later = source.submit("work");
        worker.wakeUp();
        int beats = source.beatsFor(running);
        until(() -> source.beatsFor(running) > beats + 2); // beats go on
        assertThat(closer.isAlive()).isTrue();
        assertThat(context.get().cancelled()).isFalse();
        gate.countDown();
        until(() -> !closer.isAlive());
        assertThat(source.status(running)).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(source.status(later)).isEqualTo(JobStatus.QUEUED);
    }

    @Test
    void handlerThatObeysItsInterrupt_isHandedBackOnce_notRetried() {
        String id = source.submit("work");
        AtomicBoolean interrupted = new AtomicBoolean();
        Worker worker = fixture.start(settings -> settings.withDrainTimeout(SHORT), (payload, attempt) -> {
            context.set(attempt);
            try {
                fixture.gate().await();
            } catch (InterruptedException e) {
                interrupted.set(true);
                throw e;
            }
        });
        until(() -> context.get() != null);
        worker.close();
        assertThat(source.endings(id)).singleElement().isInstanceOfSatisfying(Finish.HandBack.class, back -> {
            assertThat(back.delay()).isZero();
            assertThat(back.reason()).contains("worker closed").contains("still running after PT0.05S");
        });
        assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
        assertThat(source.forgiven(id)).isEqualTo(1);
        assertThat(context.get().stopReason()).contains(StopReason.SHUTDOWN);
        assertThat(interrupted).isTrue();
    }

    @Test
    void handlerThatIgnoresItsInterrupt_holdsUpNobody_andWhatItWritesLaterIsRefused() {
        CountDownLatch gate = fixture.gate();
        CountDownLatch over = fixture.gate();
        String id = source.submit("work");
        Worker worker = fixture.start(settings -> settings.withDrainTimeout(SHORT), (payload, attempt) -> {
            context.set(attempt);
            ignoringInterrupts(gate);
            over.countDown();
        });
        until(() -> context.get() != null);
        worker.close();
        assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
        assertThat(source.endings(id)).hasSize(1);
        assertThat(worker.status().lingering()).isEqualTo(1);
        assertThatExceptionOfType(AttemptLostException.class)
                .isThrownBy(() -> context.get().progress(50));
        gate.countDown();
        until(() -> over.getCount() == 0 && worker.status().running() == 0);
        assertThat(source.endings(id)).hasSize(1);
        assertThat(source.calls(Op.PROGRESS)).isZero();
    }

    @Test
    void jobThatIsToBeCancelled_isCancelledAtTheEndOfTheDrain_notHandedBack() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", BRISK);
        Worker worker = fixture.start(settings -> settings.withDrainTimeout(SHORT), (payload, attempt) -> {
            context.set(attempt);
            ignoringInterrupts(gate);
        });
        until(() -> context.get() != null);
        source.cancel(id);
        until(() -> context.get().cancelled());
        worker.close();
        assertThat(source.endings(id)).containsExactly(new Finish.Cancel());
        assertThat(context.get().stopReason()).contains(StopReason.CANCELLED);
    }

    @Test
    void claimInFlight_isAwaited_andItsJobsAreHandedBackUnstarted() {
        CountDownLatch inFlight = fixture.gate();
        CountDownLatch gate = fixture.gate();
        source.next(Op.CLAIM, new Fault() {
            @Override
            public <T> T around(Supplier<T> call) {
                inFlight.countDown();
                ignoringInterrupts(gate);
                return call.get();
            }
        });
        List<String> ids = List.of(source.submit("work"), source.submit("work"));
        Worker worker = fixture.start((payload, attempt) -> runs.incrementAndGet());
        until(() -> inFlight.getCount() == 0);
        Thread closer = closing(worker);
        assertThat(closer.isAlive()).isTrue();
        gate.countDown();
        until(() -> !closer.isAlive());
        assertThat(runs).hasValue(0);
        assertThat(ids).allSatisfy(id -> {
            assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
            assertThat(source.forgiven(id)).isEqualTo(1);
        });
        assertThat(source.calls(Op.START)).isZero();
    }

    @Test
    void claimThatIsAnsweredOnlyAfterTheEnd_isHandedBackAllTheSame() {
        CountDownLatch gate = fixture.gate();
        source.next(Op.CLAIM, Fault.before(() -> ignoringInterrupts(gate)));
        String id = source.submit("work");
        Worker worker = fixture.start(
                settings -> settings.withDrainTimeout(SHORT), (payload, attempt) -> runs.incrementAndGet());
        until(() -> source.calls(Op.CLAIM) == 1);
        worker.close();
        gate.countDown();
        until(() -> source.forgiven(id) == 1);
        assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
        assertThat(runs).hasValue(0);
    }

    @Test
    void jobWhoseStartIsUnknown_isHandedBack() {
        String id = source.submit("work");
        source.always(Op.START, Fault.down());
        Worker worker = fixture.tellingFirst().start((payload, attempt) -> runs.incrementAndGet());
        until(() -> source.calls(Op.START) > 0);
        worker.close();
        assertThat(source.forgiven(id)).isEqualTo(1);
        assertThat(runs).hasValue(0);
    }

    @Test
    void storeOutOfReach_doesNotHoldUpTheEnd() {
        CountDownLatch gate = fixture.gate();
        String running = source.submit("work", BRISK);
        String finished = source.submit("work", BRISK);
        Worker worker = fixture.start(settings -> settings.withDrainTimeout(SHORT), (payload, attempt) -> {
            if (attempt.job().id().equals(running)) {
                context.set(attempt);
                ignoringInterrupts(gate);
            }
        });
        source.always(Op.FINISH, Fault.down());
        until(() -> context.get() != null && source.calls(Op.FINISH) > 0);
        source.down();
        worker.wakeUp();
        worker.close();
        assertThat(worker.status().claiming()).isEqualTo(Claiming.CLOSED);
        assertThat(List.of(running, finished)).noneMatch(id -> source.status(id).isFinal());
        int beats = source.beats.size();
        gate.countDown();
        until(() -> worker.status().running() == 0);
        assertThat(source.beats).hasSize(beats); // no sign of life any more: the jobs can be recovered
    }

    @Test
    void storeThatHangs_doesNotHoldUpTheEnd() {
        CountDownLatch hang = fixture.gate();
        CountDownLatch handler = fixture.gate();
        source.submit("work", BRISK);
        Worker worker = fixture.start(settings -> settings.withDrainTimeout(SHORT), (payload, attempt) -> {
            context.set(attempt);
            ignoringInterrupts(handler);
        });
        until(() -> context.get() != null);
        for (Op op : Op.values()) {
            source.always(op, Fault.before(() -> ignoringInterrupts(hang)));
        }
        worker.wakeUp();
        worker.close();
        assertThat(worker.status().claiming()).isEqualTo(Claiming.CLOSED);
    }

    @Test
    void outcomesOfFinishedHandlers_areWrittenDuringTheDrain_onceTheStoreIsBack() {
        String id = source.submit("work");
        source.next(Op.FINISH, Fault.down(), Fault.down());
        Worker worker = fixture.start((payload, attempt) -> {});
        until(() -> source.calls(Op.FINISH) > 0);
        worker.close();
        assertThat(source.status(id)).isEqualTo(JobStatus.SUCCEEDED);
    }

    // Who closes, how often, and from where.

    @Test
    void handlerThatClosesItsWorker_isNotBlocked_andStillSucceeds() {
        AtomicReference<Worker> self = new AtomicReference<>();
        Worker worker = fixture.start(settings -> settings.withConcurrency(1), (payload, attempt) -> {
            self.get().close();
            context.set(attempt);
        });
        self.set(worker);
        String id = source.submit("work");
        worker.wakeUp();
        until(() -> worker.status().claiming() == Claiming.CLOSED);
        assertThat(context.get()).isNotNull();
        assertThat(source.status(id)).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void everyClose_waits_andIsHarmless() {
        CountDownLatch gate = fixture.gate();
        source.submit("work");
        Worker worker = fixture.start((payload, attempt) -> {
            context.set(attempt);
            gate.await();
        });
        until(() -> context.get() != null);
        Thread first = closing(worker);
        Thread second = closing(worker);
        assertThat(first.isAlive() && second.isAlive()).isTrue();
        gate.countDown();
        until(() -> !first.isAlive() && !second.isAlive());
        worker.close();
        assertThat(source.allSucceeded()).isTrue();
    }

    @Test
    void interruptOfTheClosingThread_skipsTheDrain_andIsKept() {
        String id = source.submit("work");
        AtomicBoolean kept = new AtomicBoolean();
        Worker worker =
                fixture.start(settings -> settings.withDrainTimeout(Duration.ofHours(1)), (payload, attempt) -> {
                    context.set(attempt);
                    fixture.gate().await();
                });
        until(() -> context.get() != null);
        Thread closer = new Thread(() -> {
            worker.close();
            kept.set(Thread.currentThread().isInterrupted());
        });
        closer.start();
        closer.interrupt();
        until(() -> !closer.isAlive());
        assertThat(kept).isTrue();
        assertThat(source.forgiven(id)).isEqualTo(1);
    }

    @Test
    void companions_areClosedAfterTheDrain_theLastFirst_whateverTheyThrow() {
        List<String> order = new CopyOnWriteArrayList<>();
        String id = source.submit("work");
        Worker worker = fixture.track(fixture.setup()
                .handle(WorkerFixture.WORK, (payload, attempt) -> context.set(attempt))
                .closeWith(() -> order.add("first, job is " + source.status(id)))
                .closeWith(() -> {
                    order.add("second");
                    throw new IllegalStateException("boo");
                })
                .start());
        until(() -> context.get() != null);
        worker.close();
        worker.close();
        assertThat(order).containsExactly("second", "first, job is SUCCEEDED");
    }

    /** Each waits until the other is being closed as well. */
    @Test
    void helpers_areClosedBesideEachOther_beforeTheCompanions() {
        CyclicBarrier together = new CyclicBarrier(2);
        List<String> order = new CopyOnWriteArrayList<>();
        AutoCloseable helper = () -> {
            together.await(30, TimeUnit.SECONDS);
            order.add("helper");
        };
        Worker worker = fixture.track(fixture.setup()
                .handle(WorkerFixture.WORK, (payload, attempt) -> {})
                .closeWith(() -> order.add("companion"))
                .closeBeside(helper)
                .closeBeside(helper)
                .start());
        worker.close();
        assertThat(order).containsExactly("helper", "helper", "companion");
    }

    /** The store takes no outcome, so that is waited for; the helper is closed meanwhile. */
    @Test
    void helpers_areClosedWhileOutcomesAreWaitedFor() {
        CountDownLatch closed = new CountDownLatch(1);
        String id = source.submit("work");
        Worker worker = fixture.track(fixture.setup()
                .settings(settings -> settings.withDrainTimeout(SHORT))
                .timings(new Timings(SHORT, Duration.ofSeconds(60), SHORT, SHORT, SHORT))
                .handle(WorkerFixture.WORK, (payload, attempt) -> {
                    context.set(attempt);
                    fixture.gate().await();
                })
                .closeBeside(closed::countDown)
                .start());
        until(() -> context.get() != null);
        source.always(Op.FINISH, Fault.down());
        Thread closer = closing(worker);
        until(() -> closed.getCount() == 0);
        assertThat(source.endings(id)).isEmpty();
        source.heal(Op.FINISH);
        until(() -> !closer.isAlive());
        assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
    }

    /** Often: it closes the worker while that is still being started. */
    @RepeatedTest(50)
    void listenerThatClosesItsWorker_waitsForNobody() {
        CountDownLatch gate = fixture.gate();
        AtomicBoolean returned = new AtomicBoolean();
        AtomicBoolean interrupted = new AtomicBoolean();
        source.submit("work");
        AtomicReference<Worker> worker = new AtomicReference<>();
        worker.set(fixture.track(fixture.setup()
                .handle(WorkerFixture.WORK, (payload, attempt) -> gate.await())
                .listener(new WorkerListener() {
                    @Override
                    public void opened(Worker opened) {
                        opened.close();
                        interrupted.set(Thread.currentThread().isInterrupted());
                        returned.set(true);
                    }
                })
                .start()));
        until(returned::get);
        assertThat(interrupted).isFalse();
        gate.countDown();
        until(() -> worker.get().status().claiming() == Claiming.CLOSED);
    }

    @Test
    void workerThatWasNeverStarted_closesItsCompanions() {
        AtomicInteger closed = new AtomicInteger();
        Worker worker = fixture.setup()
                .handle(WorkerFixture.WORK, (payload, attempt) -> {})
                .closeWith(closed::incrementAndGet)
                .build();
        assertThat(worker.status().claiming()).isEqualTo(Claiming.NOT_STARTED);
        worker.close();
        worker.close();
        assertThat(closed).hasValue(1);
        assertThat(worker.status().claiming()).isEqualTo(Claiming.CLOSED);
        assertThatIllegalStateException().isThrownBy(worker::start).withMessageContaining("build another one");
    }

    @Test
    void worker_startsOnce() {
        Worker worker = fixture.start((payload, attempt) -> {});
        assertThatIllegalStateException().isThrownBy(worker::start).withMessageContaining("\"worker\"");
    }

    // Threads.

    @Test
    void threads_areNamedAfterTheWorker_andAreGoneAfterItsEnd() {
        CountDownLatch gate = fixture.gate();
        source.submit("work");
        Worker worker = fixture.start(settings -> settings.withName("named"), (payload, attempt) -> {
            context.set(attempt);
            gate.await();
        });
        until(() -> context.get() != null);
        assertThat(threads()).anyMatch(name -> name.contains("claims")).anyMatch(name -> name.contains("beats"));
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("millrace-named-") && !thread.isDaemon())
                        .map(Thread::getName))
                .containsExactly("millrace-named-lifecycle");
        gate.countDown();
        worker.close();
        until(() -> threads().isEmpty());
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("millrace-named-"))
                .toList();
    }

    @Test
    void virtualThreads_areUsedWhereTheJvmHasThem() {
        boolean available = Runtime.version().feature() >= 21;
        assertThat(VirtualThreads.named("handler-").isPresent()).isEqualTo(available);
        AtomicReference<String> name = new AtomicReference<>();
        source.submit("work");
        fixture.start((payload, attempt) -> name.set(Thread.currentThread().toString()));
        until(() -> name.get() != null);
        assertThat(name.get()).contains("millrace-worker-handler-0");
        assertThat(name.get().startsWith("VirtualThread")).isEqualTo(available);
    }
}
