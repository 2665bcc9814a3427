package dev.millrace.store;

import java.util.UUID;

/**
 * One attempt at one job, and the proof of owning it: whatever an attempt writes is refused once the job carries
 * another token. Neither the worker's name nor the attempt's number would do, since a worker may claim its own job
 * again.
 *
 * @param jobId the job
 * @param token the claim token, new with each claim
 */
public record Attempt(String jobId, UUID token) {}
