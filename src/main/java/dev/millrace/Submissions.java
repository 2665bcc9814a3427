package dev.millrace;

import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.JobType;
import dev.millrace.job.NewJob;
import dev.millrace.job.PayloadCodec;
import dev.millrace.store.Creation;
import dev.millrace.store.JobStore;
import java.util.Collection;
import java.util.List;

/** Makes a job of a type, a payload and options, and submits it. */
final class Submissions {
    private Submissions() {}

    static <T> Job submit(JobStore jobs, PayloadCodec payloads, JobType<T> type, T payload, SubmitOption... options) {
        return jobs.submit(newJob(payloads, type, payload, options)).job();
    }

    static <T> List<Job> submitAll(
            JobStore jobs, PayloadCodec payloads, JobType<T> type, Collection<T> all, SubmitOption... options) {
        List<NewJob> newJobs = all.stream()
                .map(payload -> newJob(payloads, type, payload, options))
                .toList();
        if (newJobs.size() > 1 && newJobs.get(0).id().equals(newJobs.get(1).id())) {
            throw new InvalidJobException(
                    "id",
                    "one id for " + newJobs.size() + " jobs",
                    "none: each gets its own; JobStore.submitAll takes jobs with ids");
        }
        return jobs.submitAll(newJobs).stream().map(Creation::job).toList();
    }

    private static <T> NewJob newJob(PayloadCodec payloads, JobType<T> type, T payload, SubmitOption... options) {
        NewJob job = NewJob.of(JobIds.next(), JobSpec.of(type.kind(), payloads.encode(type, payload)));
        for (SubmitOption option : options) {
            job = option.apply(job);
        }
        return job;
    }
}
