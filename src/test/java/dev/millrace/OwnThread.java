package dev.millrace;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Runs what may wait for locks, each call in a thread of its own. The JVM's common pool won't do: it has one thread on two
 * cores, so that the second call would wait for the end of the first (Java 17 evades that pool then, 25 doesn't).
 */
public final class OwnThread {
    private static final Executor EXECUTOR = task -> {
        Thread thread = new Thread(task, "own");
        thread.setDaemon(true);
        thread.start();
    };

    private OwnThread() {}

    public static <T> CompletableFuture<T> supply(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, EXECUTOR);
    }

    public static CompletableFuture<Void> run(Runnable call) {
        return CompletableFuture.runAsync(call, EXECUTOR);
    }

    /** Gives a future that someone holds already its outcome. */
    public static <T> void complete(CompletableFuture<T> future, Supplier<? extends T> call) {
        future.completeAsync(call, EXECUTOR);
    }
}
