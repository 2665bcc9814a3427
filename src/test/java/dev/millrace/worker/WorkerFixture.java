package dev.millrace.worker;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.job.PayloadException;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/** Workers on a {@link FakeSource}, closed after the test. By default a poll never helps: the interval is an hour. */
final class WorkerFixture implements AutoCloseable {
    static final JobType<String> WORK = JobType.of("work", String.class);

    /** Beats every 20 ms, dead after a minute, so that beats come soon and silence is never long. */
    static final JobPolicies BRISK =
            JobPolicies.DEFAULT.withHeartbeat(new HeartbeatPolicy(Duration.ofMillis(20), Duration.ofMinutes(1)));

    static final Timings TIMINGS = timings(Duration.ofSeconds(1));

    /** Payloads as their text; what holds "undecodable" is. */
    static final PayloadCodec CODEC = new PayloadCodec() {
        @Override
        public <T> JsonText encode(JobType<T> type, T payload) {
            return JsonText.of(payload.toString());
        }

        @Override
        @SuppressWarnings("unchecked") // all payloads of these tests are strings
        public <T> T decode(JobType<T> type, JsonText parameters) {
            if (parameters.text().contains("undecodable")) {
                throw new PayloadException(type.kind(), "no such field");
            }
            return (T) parameters.text();
        }

        @Override
        public JsonText encodeResult(Object result) {
            return JsonText.of("\"" + result + "\"");
        }

        @Override
        public <R> R decodeResult(JsonText result, Class<R> type) {
            return type.cast(result.text());
        }
    };

    final FakeSource source = new FakeSource();
    private Timings timings = TIMINGS;
    private final List<Worker> workers = new ArrayList<>();
    private final List<CountDownLatch> gates = new ArrayList<>();

    private static Timings timings(Duration unasked) {
        return new Timings(
                Duration.ofMillis(50), Duration.ofMillis(500), Duration.ofMillis(100), Duration.ofSeconds(90), unasked);
    }

    /** Workers that are started from now on let no handler begin before the database knows, as if each claim were old. */
    WorkerFixture tellingFirst() {
        return tellingAfter(Duration.ZERO);
    }

    /** They tell the database of a handler that runs once it has done so for this long. */
    WorkerFixture tellingAfter(Duration unasked) {
        timings = timings(unasked);
        return this;
    }

    static WorkerSettings settings() {
        return WorkerSettings.defaults()
                .withName("worker")
                .withPollInterval(Duration.ofHours(1))
                .withBeatRetryDelay(Duration.ofMillis(20))
                .withDrainTimeout(Duration.ofSeconds(20));
    }

    WorkerSetup setup() {
        return Worker.on(source, CODEC).settings(settings()).timings(timings);
    }

    /** Starts a worker for jobs of the kind "work". */
    Worker start(UnaryOperator<WorkerSettings> settings, JobHandler<String> handler) {
        return track(setup().settings(settings).handle(WORK, handler).start());
    }

    Worker start(JobHandler<String> handler) {
        return start(settings -> settings, handler);
    }

    Worker track(Worker worker) {
        workers.add(worker);
        return worker;
    }

    List<Worker> workers() {
        return workers;
    }

    /** A latch that is opened at the end of the test at the latest. */
    CountDownLatch gate() {
        CountDownLatch gate = new CountDownLatch(1);
        gates.add(gate);
        return gate;
    }

    static JobPolicies attempts(int most) {
        return BRISK.withRetry(RetryPolicy.fixed(most, Duration.ZERO));
    }

    static JobPolicies lasting(Duration most) {
        return BRISK.withMaxDuration(most);
    }

    static void until(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(2))
                .until(condition);
    }

    /** Waits for the latch and takes no notice of interrupts, as a handler shouldn't. */
    static void ignoringInterrupts(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // the bad habit that this is about
            }
        }
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("waited for 20 s");
        }
    }

    @Override
    public void close() {
        gates.forEach(CountDownLatch::countDown);
        source.up();
        workers.forEach(Worker::close);
    }
}
