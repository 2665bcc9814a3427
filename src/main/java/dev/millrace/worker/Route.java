package dev.millrace.worker;

import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;

/**
 * A kind of job with the handler for it.
 *
 * @param <T> the payload's type, which ties the two together
 */
record Route<T>(JobType<T> type, JobHandler<? super T> handler) {
    String kind() {
        return type.kind();
    }

    /** Decodes the payload and runs the handler. */
    void run(PayloadCodec codec, Job job, JobContext context) throws Exception {
        handler.handle(codec.decode(type, job.spec().parameters()), context);
    }
}
