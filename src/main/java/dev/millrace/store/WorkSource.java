package dev.millrace.store;

import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Where a worker's work comes from, and what an attempt may write. Every write is fenced by the attempt's token: an
 * attempt that was superseded, or whose job has ended, changes nothing and is told so.
 */
public interface WorkSource {
    /**
     * As {@link JobQueue#claim}.
     *
     * @param request for whom, from where, and how many
     * @return the jobs, each with the token of its claim
     */
    List<Claim> claim(ClaimRequest request);

    /**
     * What a claim took whose answer was lost: the claimed jobs that carry one of these tokens and that are not
     * shown as running yet. Counts no attempt.
     *
     * @param tokens the tokens of the unanswered request
     * @return the jobs that it took
     */
    List<Claim> recover(Collection<UUID> tokens);

    /**
     * A sign of life for each of these attempts, of one job at most once, in statements of at most 50. Waits for no
     * row: one that another transaction holds is {@link Pulse#BUSY}.
     *
     * @param attempts attempts that were claimed here
     * @return an answer for each attempt
     */
    Map<Attempt, Pulse> beat(Collection<Attempt> attempts);

    /**
     * The attempt's handler is about to start: {@code Provisioning} becomes {@code Running}. Waits for a row that another
     * transaction holds.
     *
     * @param attempt the attempt
     * @return what the job says to it
     */
    Pulse start(Attempt attempt);

    /**
     * The same for attempts, of one job at most once, whose handlers have started already. What is kept in PostgreSQL does it
     * in statements of at most 50 and, like {@link #beat}, waits for no row: one that another transaction holds is {@link Pulse#BUSY}.
     *
     * @param attempts attempts that were claimed here
     * @return an answer for each attempt
     */
    default Map<Attempt, Pulse> startAll(Collection<Attempt> attempts) {
        Map<Attempt, Pulse> answers = new LinkedHashMap<>();
        attempts.forEach(attempt -> answers.put(attempt, start(attempt)));
        return answers;
    }

    /**
     * Reports progress; a sign of life as well. What makes progress runs: {@code Provisioning} becomes {@code Running}.
     *
     * @param attempt the attempt
     * @param percent 0 to 100, or null to leave it
     * @param phase 1 to 512 characters, or null to leave it
     * @return what the job says to it
     */
    Pulse progress(Attempt attempt, @Nullable Double percent, @Nullable String phase);

    /**
     * Ends the attempt. Repeatable: an ending that an earlier, unanswered call has already written is recognised by
     * its token.
     *
     * @param completion the attempt, how it ends, and what it adds to its job's outcome
     * @return true if the attempt is ended as asked (or {@code Cancelled}, where {@link Finish} says so), false if it
     *     was no longer the job's, and nothing was written
     */
    boolean finish(Completion completion);

    /**
     * As {@link #finish(Completion)}, adding nothing to the job's outcome.
     *
     * @param claim the claim that the attempt has
     * @param finish how it ends
     * @return true if the attempt is ended as asked, false if it was no longer the job's
     */
    default boolean finish(Claim claim, Finish finish) {
        return finish(new Completion(claim, finish));
    }

    /**
     * Ends many attempts, as {@link #finish(Completion)} does each. A store does it in few statements; each of these is committed by
     * itself, and repeating the call is safe. Attempts whose rows others have locked come last, one by one. In a
     * caller's transaction all of their jobs are locked first, and waited for, in the order of their ids. Attempts whose jobs
     * the database refuses to change, such as by a trigger of yours, keep no other one from its end.
     *
     * @param completions attempts and how they end; of two for the same attempt the first counts
     * @return the attempts that are ended as asked; the others were no longer the job's
     * @throws JobsFailedException if the database refuses to change some jobs: {@link JobsFailedException#failures()}
     *     names them, and says why; the attempts of all others are ended, as a repetition of the call will say. A store
     *     that ends them one by one throws what {@link #finish(Completion)} does, and has tried none of those behind it; so does
     *     one in a caller's transaction, which such an error ends
     */
    default Set<Attempt> finishAll(Collection<Completion> completions) {
        Set<Attempt> ended = new LinkedHashSet<>();
        Set<Attempt> seen = new HashSet<>();
        for (Completion completion : completions) {
            Attempt attempt = completion.claim().attempt();
            if (seen.add(attempt) && finish(completion)) {
                ended.add(attempt);
            }
        }
        return ended;
    }

    /**
     * As {@link #finishAll}, but waits for nobody: attempts whose rows others have locked are left out, as are those that
     * have lost their jobs. What became of these is for {@link #finish(Completion)} to find out.
     *
     * @param completions attempts and how they end
     * @return the attempts that are ended as asked
     * @throws JobsFailedException as of {@link #finishAll}
     */
    default Set<Attempt> finishUnlocked(Collection<Completion> completions) {
        return finishAll(completions);
    }
}
