package dev.millrace.store;

import dev.millrace.types.JobStatus;

/**
 * How many jobs of one status, kind and queue there are.
 *
 * @param status their status
 * @param kind their kind
 * @param queue their queue
 * @param jobs how many, from 1
 */
public record JobCount(JobStatus status, String kind, String queue, long jobs) {}
