package dev.millrace.benchmarks;

import dev.millrace.job.JobSpec;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.WorkSource;
import java.util.List;

/** Claims as a worker does that has handlers for some kinds, and makes sure that it gets what it asks for. */
public final class Claimer {
    /** In whose name. */
    public static final String NAME = "claimer";

    /** Where from. */
    public static final List<ClaimRequest.Source> SOURCES =
            List.of(new ClaimRequest.Source(JobSpec.DEFAULT_PROFILE, JobSpec.DEFAULT_QUEUE));

    private final WorkSource work;
    private final List<String> kinds;

    /**
     * @param work whose jobs
     * @param kinds of which kinds; of several, a claim takes another statement than of one
     */
    public Claimer(WorkSource work, List<String> kinds) {
        this.work = work;
        this.kinds = List.copyOf(kinds);
    }

    /**
     * {@return that many jobs, claimed in one call}
     *
     * @param limit how many
     * @throws CheckFailedException if it got another number of jobs
     */
    public List<Claim> claim(int limit) {
        List<Claim> claims = work.claim(ClaimRequest.of(NAME, SOURCES, kinds, limit));
        if (claims.size() != limit) {
            throw new CheckFailedException("A claim of " + limit + " jobs got " + claims.size());
        }
        return claims;
    }
}
