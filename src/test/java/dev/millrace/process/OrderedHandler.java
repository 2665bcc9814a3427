package dev.millrace.process;

import dev.millrace.worker.AttemptLostException;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.JobHandler;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * A handler that waits for orders and tells what happens to it: {@code started}, {@code interrupted}, {@code report} and
 * {@code ended}, each followed by the job's id and the number of the attempt.
 */
final class OrderedHandler {
    /** To return normally. */
    static final String RETURN = "return";
    /** To throw. */
    static final String THROW = "throw";
    /** To report progress, and to go on waiting. */
    static final String REPORT = "report";

    private final Map<String, BlockingQueue<String>> orders = new ConcurrentHashMap<>();
    private final Consumer<String> events;

    /** What a handler does between its beginning and its end. */
    private interface Body {
        void run(JobContext context) throws InterruptedException;
    }

    OrderedHandler(Consumer<String> events) {
        this.events = events;
    }

    void order(String jobId, int attempt, String order) {
        ordersFor(jobId + " " + attempt).add(order);
    }

    /** Ends when it is interrupted. */
    JobHandler<Task> waiting() {
        return (task, context) -> run(context, this::obey);
    }

    /** Goes on when it is interrupted. */
    JobHandler<Task> stubborn() {
        return (task, context) -> run(context, its -> {
            boolean over = false;
            while (!over) {
                over = obeyedWithoutInterrupt(its);
            }
        });
    }

    private void run(JobContext context, Body body) throws InterruptedException {
        tell("started", context, "");
        try {
            body.run(context);
        } finally {
            tell("ended", context, "");
        }
    }

    @SuppressWarnings("UnusedException") // the bad habit that this is about
    private boolean obeyedWithoutInterrupt(JobContext context) {
        try {
            obey(context);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void obey(JobContext context) throws InterruptedException {
        while (true) {
            switch (next(context)) {
                case RETURN -> {
                    return;
                }
                case THROW -> throw new IllegalStateException("as ordered");
                case REPORT -> report(context);
                default -> throw new IllegalArgumentException("There is no such order");
            }
        }
    }

    private String next(JobContext context) throws InterruptedException {
        try {
            return ordersFor(context.job().id() + " " + context.attempt()).take();
        } catch (InterruptedException e) {
            tell("interrupted", context, context.stopReason().map(Enum::name).orElse("without a reason"));
            throw e;
        }
    }

    private void report(JobContext context) {
        try {
            context.progress(77, "late");
            tell("report", context, "accepted");
        } catch (AttemptLostException e) {
            tell("report", context, "refused: " + e.getMessage());
        }
    }

    private void tell(String what, JobContext context, String more) {
        String event = what + " " + context.job().id() + " " + context.attempt();
        events.accept(more.isEmpty() ? event : event + " " + more);
    }

    private BlockingQueue<String> ordersFor(String key) {
        return orders.computeIfAbsent(key, any -> new LinkedBlockingQueue<>());
    }
}
