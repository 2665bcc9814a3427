package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.backend.StartRequest;
import dev.millrace.backend.StartResult;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A backend in memory that keeps what it is told to keep, and counts what it is asked. */
final class FakeBackend implements Backend {
    /** What is done in place of a call, or before it. */
    interface Hook {
        void run(RemoteOperation operation) throws Exception;
    }

    private final String name;
    final Set<Capability> capabilities = EnumSet.allOf(Capability.class);

    /** What runs, or has run, by token. */
    final Map<UUID, Observation> operations = new ConcurrentHashMap<>();

    final Map<UUID, RemoteOperation> known = new ConcurrentHashMap<>();

    /** How often each was asked to start. */
    final Map<UUID, AtomicInteger> starts = new ConcurrentHashMap<>();

    final List<StartRequest> requests = new CopyOnWriteArrayList<>();
    final List<UUID> cancelled = new CopyOnWriteArrayList<>();
    volatile Hook beforeStart = operation -> {};
    volatile Hook afterStart = operation -> {};
    volatile Hook beforeObserve = operation -> {};
    volatile Hook onCancel;
    volatile int room = Integer.MAX_VALUE;
    final AtomicInteger roomAsked = new AtomicInteger();

    FakeBackend(String name) {
        this.name = name;
        this.onCancel = operation -> end(operation.token(), new Observation.Cancelled());
    }

    /** What an operation is from now on. */
    void end(UUID token, Observation how) {
        operations.put(token, how);
    }

    /** The token of the one attempt that was started of this job last. */
    UUID token(String jobId) {
        List<StartRequest> its = requests.stream()
                .filter(request -> request.job().id().equals(jobId))
                .toList();
        return its.get(its.size() - 1).token();
    }

    int startsOf(UUID token) {
        return starts.getOrDefault(token, new AtomicInteger()).get();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.copyOf(capabilities);
    }

    @Override
    public int room() {
        roomAsked.incrementAndGet();
        return room;
    }

    @Override
    public StartResult start(StartRequest request) throws Exception {
        requests.add(request);
        starts.computeIfAbsent(request.token(), token -> new AtomicInteger()).incrementAndGet();
        beforeStart.run(request.operation());
        operations.putIfAbsent(request.token(), Observation.Running.PLAINLY);
        String id = "op-" + request.token();
        known.put(request.token(), request.operation().withOperationId(id));
        afterStart.run(request.operation());
        return new StartResult.Started(id);
    }

    @Override
    public Observation observe(RemoteOperation operation) throws Exception {
        beforeObserve.run(operation);
        return operations.getOrDefault(operation.token(), new Observation.Gone());
    }

    @Override
    public void cancel(RemoteOperation operation) throws Exception {
        cancelled.add(operation.token());
        onCancel.run(operation);
    }

    @Override
    public Collection<RemoteOperation> operations() {
        List<RemoteOperation> live = new ArrayList<>();
        operations.forEach((token, observation) -> {
            if (!observation.hasEnded() && known.containsKey(token)) {
                live.add(known.get(token));
            }
        });
        return live;
    }
}
