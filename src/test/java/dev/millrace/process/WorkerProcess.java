package dev.millrace.process;

import static dev.millrace.process.ChildSide.say;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.worker.OutcomeBuffer;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerSetup;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;

/**
 * A process with a worker. Arguments: the worker's name, how many jobs it runs at a time, and the sweep interval of its
 * reconciler in milliseconds, 0 for none; then, if it shall, how many jobs it claims ahead and how many outcomes it gathers.
 * SIGTERM closes it in order.
 *
 * <p>Orders: {@code return}, {@code throw} or {@code report} with a job's id and the number of its attempt; {@code deaf}
 * with a number, from when on no beat is answered, until {@code hear}; {@code idle} with a number, from when on nothing is
 * claimed, until {@code claim}. Tells the events of {@link OrderedHandler} and the
 * answers of {@link WatchedSource}; {@code napped} with a job's id and the number of its attempt.
 */
final class WorkerProcess {
    /** The exit code of a JVM that a handler has halted. */
    static final int HALTED = 77;

    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration GATHERING = Duration.ofMillis(200);
    private static final Duration DRAIN = Duration.ofMillis(1_500);

    private WorkerProcess() {}

    public static void main(String[] args) throws Exception {
        Place place = Place.ofEnvironment();
        HikariDataSource pool = Pools.quick(place);
        PostgresStore store = PostgresStore.on(pool, place.schema());
        WatchedSource source = new WatchedSource(store.work(), ChildSide::say);
        OrderedHandler handler = new OrderedHandler(ChildSide::say);
        WorkerSetup setup = Worker.on(source, new Payloads())
                .settings(settings -> settings.withName(args[0])
                        .withConcurrency(Integer.parseInt(args[1]))
                        .withPrefetch(args.length > 3 ? Integer.parseInt(args[3]) : 0)
                        .withOutcomeBuffer(
                                args.length > 4
                                        ? new OutcomeBuffer(Integer.parseInt(args[4]), GATHERING)
                                        : OutcomeBuffer.NONE)
                        .withPollInterval(POLL)
                        .withBeatRetryDelay(POLL)
                        .withDrainTimeout(DRAIN))
                .handle(Task.WAIT, handler.waiting())
                .handle(Task.STUBBORN, handler.stubborn())
                .handle(Task.NAP, (task, context) -> {
                    Thread.sleep(task.millis());
                    say("napped " + context.job().id() + " " + context.attempt());
                })
                .handle(Task.QUERY, (task, context) -> {
                    if (context.attempt() > 1) {
                        handler.waiting().handle(task, context);
                        return;
                    }
                    try (Connection connection = pool.getConnection();
                            Statement statement = connection.createStatement()) {
                        say("started " + context.job().id() + " " + context.attempt());
                        statement.execute("SELECT pg_sleep(600)");
                    }
                })
                .handle(Task.HALT, (task, context) -> Runtime.getRuntime().halt(HALTED));
        long sweepMillis = Long.parseLong(args[2]);
        if (sweepMillis > 0) {
            JobReconciler reconciler = new JobReconciler(
                    RecoverySettings.DEFAULT.withJobSweepInterval(Duration.ofMillis(sweepMillis)),
                    store.reconcilable(),
                    store.queue());
            setup.closeWith(reconciler);
            reconciler.start();
        }
        Worker worker = setup.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            worker.close();
            pool.close();
        }));
        ChildSide.obey(words -> {
            switch (words[0]) {
                case "deaf" -> {
                    source.deaf(true);
                    say("deaf " + words[1] + " done");
                }
                case "hear" -> source.deaf(false);
                case "idle" -> {
                    source.idle(true);
                    say("idle " + words[1] + " done");
                }
                case "claim" -> source.idle(false);
                default -> handler.order(words[1], Integer.parseInt(words[2]), words[0]);
            }
        });
    }
}
