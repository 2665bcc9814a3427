package dev.millrace.worker;

import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.store.Claim;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JsonText;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Runs claimed jobs one at a time, on the caller's thread. This is what the test kit uses ({@code millrace-testkit});
 * applications have a {@link Worker}.
 *
 * <p>An attempt goes through the same code as in a worker: it is promoted (before its handler begins,
 * where a worker does so a second later), its payload decoded and handled, and its end, as the job's policies say, is
 * written. What is missing is what goes on beside a handler: nobody beats, so a handler learns of a cancellation only when it reports progress, and one that takes longer than its job allows is not
 * interrupted, but fails when it returns. A statement that fails is not repeated: the caller gets the error.
 *
 * <p>Immutable, and as safe for use by many threads as its handlers are.
 */
public final class InlineWorker {
    private final WorkerSettings settings;
    private final PayloadCodec codec;
    private final Map<String, Route<?>> routes;

    /**
     * What an attempt reads and writes.
     *
     * @param work where it is promoted, and its progress and end go
     * @param logs where the lines of its handler go
     * @param results where the result of its handler goes
     */
    public record Stores(WorkSource work, JobLogStore logs, ResultPackageStore results) {}

    /** Called around a handler, on its thread. */
    @FunctionalInterface
    public interface Around {
        /**
         * Calls the handler, with whatever has to be done before and after that.
         *
         * @param handler to be called once; what it throws is to be passed on
         * @throws Exception what the handler threw; any other counts as thrown by the handler
         */
        void call(Callable<?> handler) throws Exception;
    }

    InlineWorker(WorkerSettings settings, PayloadCodec codec, Map<String, Route<?>> routes) {
        this.settings = settings;
        this.codec = codec;
        this.routes = Collections.unmodifiableMap(new LinkedHashMap<>(routes));
    }

    /**
     * The same with one more handler.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param handler runs a job
     * @return such a worker
     * @throws InvalidWorkerException if the kind has a handler already
     */
    public <T> InlineWorker handle(JobType<T> type, JobHandler<? super T> handler) {
        Map<String, Route<?>> more = new LinkedHashMap<>(routes);
        Route.add(more, type, handler);
        return new InlineWorker(settings, codec, more);
    }

    /** {@return who claims, to be shown with each job} */
    public String name() {
        return settings.name();
    }

    /** {@return the kinds of jobs that it has handlers for} */
    public Set<String> kinds() {
        return routes.keySet();
    }

    /**
     * Runs one attempt to its end.
     *
     * @param stores what it reads and writes
     * @param claim the attempt, fresh from its claim, of a kind that has a handler
     * @param around called around the handler
     * @return what came of it; where the job stands now is in the database
     * @throws RuntimeException what the work source threw when the attempt was to be promoted or its outcome written: then
     *     it is not known where the job stands
     */
    public InlineRun run(Stores stores, Claim claim, Around around) {
        Ticker ticker = Ticker.started();
        Health health = new Health();
        OneTrySource once = new OneTrySource(stores.work());
        JobLog log = new JobLog(stores.logs(), health);
        Outcomes outcomes = new Outcomes(once, log, OutcomeBuffer.NONE, Runnable::run, health, ticker);
        outcomes.giveUp(); // repeats nothing
        Witness witness = new Witness(codec, around);
        HandlerServices services = new HandlerServices(
                settings.name(),
                once,
                log,
                new OneTryResults(stores.results()),
                settings.resultRetention(),
                witness,
                health,
                ticker);
        Map<String, Route<?>> route = witness.routes(routes, claim.job().kind());
        new AttemptRunner(route, services, outcomes, attempt -> false)
                .run(new RunningAttempt(claim, ticker, ticker.now(), changed -> {}));
        once.rethrow();
        return new InlineRun(witness.handled, witness.thrown);
    }

    /** Sees what the payload's reading and the handler throw, before the runner makes an outcome of it. */
    private static final class Witness implements PayloadCodec {
        private final PayloadCodec codec;
        private final Around around;
        private boolean handled;
        private @Nullable Throwable thrown;

        private Witness(PayloadCodec codec, Around around) {
            this.codec = codec;
            this.around = around;
        }

        private Map<String, Route<?>> routes(Map<String, Route<?>> routes, String kind) {
            Route<?> route = routes.get(kind);
            return route == null ? Map.of() : Map.of(kind, watched(route));
        }

        private <T> Route<T> watched(Route<T> route) {
            return new Route<>(route.type(), (payload, context) -> handle(route, payload, context));
        }

        private <T> void handle(Route<T> route, T payload, JobContext context) throws Exception {
            handled = true;
            try {
                around.call(() -> {
                    route.handler().handle(payload, context);
                    return null;
                });
            } catch (Throwable e) {
                thrown = e;
                throw e;
            }
        }

        @Override
        public <T> JsonText encode(JobType<T> type, T payload) {
            return codec.encode(type, payload);
        }

        @Override
        public <T> T decode(JobType<T> type, JsonText parameters) {
            try {
                return codec.decode(type, parameters);
            } catch (Throwable e) {
                thrown = e;
                throw e;
            }
        }

        @Override
        public JsonText encodeResult(@Nullable Object result) {
            return codec.encodeResult(result);
        }

        @Override
        public <R> @Nullable R decodeResult(JsonText result, Class<R> type) {
            return codec.decodeResult(result, type);
        }
    }
}
