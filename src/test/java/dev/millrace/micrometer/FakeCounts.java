package dev.millrace.micrometer;

import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.store.Count;
import dev.millrace.store.JobCount;
import dev.millrace.store.JobCounts;
import dev.millrace.store.JobQuery;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Queues without a database. */
final class FakeCounts implements JobCounts {
    final Map<Source, Count> waiting = new LinkedHashMap<>();
    final AtomicInteger asked = new AtomicInteger();
    volatile boolean down;

    @Override
    public Map<Source, Count> waiting(int upTo) {
        asked.incrementAndGet();
        if (down) {
            throw new StoreUnavailableException("out of reach", null);
        }
        return waiting;
    }

    @Override
    public Map<Source, Duration> oldestWaiting() {
        Map<Source, Duration> ages = new LinkedHashMap<>();
        waiting.keySet().forEach(source -> ages.put(source, Duration.ofMillis(1_500)));
        return ages;
    }

    @Override
    public List<JobCount> exact(JobQuery query) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Map<JobStatus, Count> byStatus(int upTo) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Map<String, Count> byKind(int upTo) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Count waiting(Source source, int upTo) {
        throw new UnsupportedOperationException();
    }
}
