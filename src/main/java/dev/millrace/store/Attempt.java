package dev.millrace.store;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at one job, and the proof of owning it: whatever an attempt writes is refused once the job carries
 * another token. Neither the worker's name nor the attempt's number would do, since a worker may claim its own job
 * again.
 *
 * @param jobId the job
 * @param token the claim token, new with each claim; null for a job that was seeded as claimed: such an attempt owns nothing,
 *     and whatever it writes is refused
 */
public record Attempt(String jobId, @Nullable UUID token) {}
