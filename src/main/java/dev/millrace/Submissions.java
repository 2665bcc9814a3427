package dev.millrace;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.JobType;
import dev.millrace.job.NewJob;
import dev.millrace.job.PayloadCodec;
import dev.millrace.job.TraceContext;
import dev.millrace.store.Creation;
import dev.millrace.store.JobStore;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes a job of a type, a payload, the caller's trace context and options, and submits it. */
final class Submissions {
    private final PayloadCodec payloads;
    private final Tracing tracing;

    Submissions(PayloadCodec payloads, Tracing tracing) {
        this.payloads = payloads;
        this.tracing = tracing;
    }

    PayloadCodec payloads() {
        return payloads;
    }

    Tracing tracing() {
        return tracing;
    }

    <T> Job submit(JobStore jobs, JobType<T> type, T payload, SubmitOption... options) {
        return jobs.submit(newJob(type, payload, tracing.current(), options)).job();
    }

    <T> List<Job> submitAll(JobStore jobs, JobType<T> type, Collection<T> all, SubmitOption... options) {
        TraceContext trace = tracing.current();
        List<NewJob> newJobs = all.stream()
                .map(payload -> newJob(type, payload, trace, options))
                .toList();
        if (newJobs.size() > 1 && newJobs.get(0).id().equals(newJobs.get(1).id())) {
            throw new InvalidJobException(
                    "id",
                    "one id for " + newJobs.size() + " jobs",
                    "none: each gets its own; JobStore.submitAll takes jobs with ids");
        }
        return jobs.submitAll(newJobs).stream().map(Creation::job).toList();
    }

    private <T> NewJob newJob(JobType<T> type, T payload, @Nullable TraceContext trace, SubmitOption... options) {
        Checks.given("type", type);
        NewJob job = Tracing.traced(
                NewJob.of(JobIds.next(), JobSpec.of(type.kind(), payloads.encode(type, payload))), trace);
        for (SubmitOption option : options) {
            job = option.apply(job);
        }
        return job;
    }
}
