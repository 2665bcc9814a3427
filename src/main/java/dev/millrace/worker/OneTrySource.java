package dev.millrace.worker;

import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A source that keeps the first error of what an attempt can't do without, for {@link InlineWorker}: a worker waits until
 * the database answers, and that has an end only where there is another thread. An attempt that can't be promoted counts
 * as lost, so that nothing is run for it.
 *
 * <p>For one thread and one attempt.
 */
final class OneTrySource implements WorkSource {
    private final WorkSource source;
    private @Nullable RuntimeException error;

    OneTrySource(WorkSource source) {
        this.source = source;
    }

    /** Whether a statement has failed, so that it is not known where the attempt stands. */
    boolean failed() {
        return error != null;
    }

    void rethrow() {
        if (error != null) {
            throw error;
        }
    }

    @Override
    public Pulse start(Attempt attempt) {
        try {
            return source.start(attempt);
        } catch (RuntimeException e) {
            keep(e);
            return Pulse.LOST;
        }
    }

    @Override
    public boolean finish(Completion completion) {
        return !failed() && kept(() -> source.finish(completion));
    }

    @Override
    public Set<Attempt> finishAll(Collection<Completion> completions) {
        return kept(() -> source.finishAll(completions));
    }

    private <T> T kept(Supplier<T> write) {
        try {
            return write.get();
        } catch (RuntimeException e) {
            keep(e);
            throw e;
        }
    }

    private void keep(RuntimeException e) {
        if (error == null) {
            error = e;
        }
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        return source.claim(request);
    }

    @Override
    public List<Claim> recover(Collection<UUID> tokens) {
        return source.recover(tokens);
    }

    @Override
    public Map<Attempt, Pulse> beat(Collection<Attempt> attempts) {
        return source.beat(attempts);
    }

    @Override
    public Pulse progress(Attempt attempt, @Nullable Double percent, @Nullable String phase) {
        return source.progress(attempt, percent, phase);
    }
}
