package dev.millrace.examples.digests;

import dev.millrace.job.JobType;

/**
 * The payload of the demonstration's jobs.
 *
 * @param path the absolute path of the file to digest
 */
record DigestFile(String path) {
    static final JobType<DigestFile> TYPE = JobType.of("digest-file", DigestFile.class);
}
