package dev.millrace.examples.guide;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Runs things elsewhere, each under a name, as far as these examples are concerned. */
final class Cluster {
    enum State {
        RUNNING,
        DONE,
        BROKEN,
        UNKNOWN
    }

    private final Map<String, State> pods = new ConcurrentHashMap<>();
    private final CountDownLatch created = new CountDownLatch(1);

    void createIfAbsent(String name, String input) {
        pods.putIfAbsent(name, input.contains("broken") ? State.BROKEN : State.RUNNING);
        created.countDown();
    }

    State stateOf(String name) {
        return pods.getOrDefault(name, State.UNKNOWN);
    }

    void delete(String name) {
        pods.remove(name);
    }

    void finishAll() {
        pods.replaceAll((name, state) -> state == State.RUNNING ? State.DONE : state);
    }

    void awaitFirst() throws InterruptedException {
        created.await();
    }

    boolean isEmpty() {
        return pods.isEmpty();
    }
}
