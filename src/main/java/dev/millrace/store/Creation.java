package dev.millrace.store;

import dev.millrace.job.Job;

/**
 * What came of creating or submitting a job.
 *
 * @param job the job as it is in the database now
 * @param created true if this call created it, false if it was already there with the same content. Where an answer of the
 *     database was lost, true if the job came in while this call was under way
 */
public record Creation(Job job, boolean created) {}
