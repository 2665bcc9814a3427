package dev.millrace.process;

import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Pulse;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.WorkSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A source that tells how the database answers to endings and progress, and that can turn deaf: then its beats and starts,
 * and they alone, get no answer. So a worker can be made to write for an attempt of which nothing has told it that it is lost. It
 * can also turn idle: then it has no jobs to be claimed.
 */
final class WatchedSource implements WorkSource {
    private final WorkSource source;
    private final Consumer<String> answers;
    private final ReentrantLock claiming = new ReentrantLock();
    private final ReentrantLock beating = new ReentrantLock();
    private boolean deaf;
    private boolean idle;

    /** @param answers is told each answer, such as {@code finish job-1 Succeed false} */
    WatchedSource(WorkSource source, Consumer<String> answers) {
        this.source = source;
        this.answers = answers;
    }

    /** When this returns, no beat or start is on its way that was sent before. */
    void deaf(boolean value) {
        beating.lock();
        try {
            deaf = value;
        } finally {
            beating.unlock();
        }
    }

    /** When this returns, no claim is on its way that was sent before. */
    void idle(boolean value) {
        claiming.lock();
        try {
            idle = value;
        } finally {
            claiming.unlock();
        }
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        claiming.lock();
        try {
            return idle ? List.of() : source.claim(request);
        } finally {
            claiming.unlock();
        }
    }

    @Override
    public List<Claim> recover(Collection<UUID> tokens) {
        return source.recover(tokens);
    }

    @Override
    public Map<Attempt, Pulse> beat(Collection<Attempt> attempts) {
        return unlessDeaf(() -> source.beat(attempts));
    }

    private <T> T unlessDeaf(Supplier<T> question) {
        beating.lock();
        try {
            if (deaf) {
                throw new StoreUnavailableException("Deaf on purpose", null);
            }
            return question.get();
        } finally {
            beating.unlock();
        }
    }

    @Override
    public Pulse start(Attempt attempt) {
        return unlessDeaf(() -> source.start(attempt));
    }

    @Override
    public Map<Attempt, Pulse> startAll(Collection<Attempt> attempts) {
        return unlessDeaf(() -> source.startAll(attempts));
    }

    @Override
    public Pulse progress(Attempt attempt, @Nullable Double percent, @Nullable String phase) {
        Pulse answer = source.progress(attempt, percent, phase);
        answers.accept("progress " + attempt.jobId() + " " + answer);
        return answer;
    }

    @Override
    public boolean finish(Completion completion) {
        boolean answer = source.finish(completion);
        String how = completion.finish().getClass().getSimpleName();
        answers.accept("finish " + completion.claim().job().id() + " " + how + " " + answer);
        return answer;
    }
}
