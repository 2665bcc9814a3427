package dev.millrace.recovery;

import dev.millrace.backend.RemoteOperation;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The operations that this process knows of, and has not seen the end of. What is in here although its attempt is over,
 * because the job took too long, was deleted, or was given to another attempt, has to be cancelled. Safe for use by
 * many threads.
 */
final class KnownOperations {
    /**
     * @param listed whether the backend has told of it: then it is not certain that it is this database's
     */
    record Known(String backend, RemoteOperation operation, boolean listed) {}

    private final Map<String, Map<UUID, Known>> byJob = new ConcurrentHashMap<>();

    /** One that is, or was, an attempt of a job in this database. */
    void add(String backend, RemoteOperation operation) {
        put(new Known(backend, operation, false));
    }

    /** What a backend says that it runs. */
    void addListed(String backend, Collection<RemoteOperation> operations) {
        operations.forEach(operation -> put(new Known(backend, operation, true)));
    }

    /** What is known of one already counts for more than that it is listed. */
    private void put(Known known) {
        byJob.compute(known.operation().jobId(), (id, there) -> {
            Map<UUID, Known> operations = there == null ? new ConcurrentHashMap<>() : there;
            if (known.listed()) {
                operations.putIfAbsent(known.operation().token(), known);
            } else {
                operations.put(known.operation().token(), known);
            }
            return operations;
        });
    }

    void remove(RemoteOperation operation) {
        byJob.computeIfPresent(operation.jobId(), (id, operations) -> {
            operations.remove(operation.token());
            return operations.isEmpty() ? null : operations;
        });
    }

    List<Known> of(String jobId) {
        Map<UUID, Known> operations = byJob.get(jobId);
        return operations == null ? List.of() : List.copyOf(operations.values());
    }

    Set<String> jobs() {
        return Set.copyOf(byJob.keySet());
    }
}
