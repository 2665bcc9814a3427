package dev.millrace;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.JobType;
import dev.millrace.job.NewJob;
import dev.millrace.job.PayloadCodec;
import dev.millrace.store.JobStore;

/** Makes a job of a type, a payload and options, and submits it. */
final class Submissions {
    private Submissions() {}

    static <T> Job submit(JobStore jobs, PayloadCodec payloads, JobType<T> type, T payload, SubmitOption... options) {
        NewJob job = NewJob.of(JobIds.next(), JobSpec.of(type.kind(), payloads.encode(type, payload)));
        for (SubmitOption option : options) {
            job = option.apply(job);
        }
        return jobs.submit(job).job();
    }
}
