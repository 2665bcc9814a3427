package dev.millrace.testkit;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * A job, and what can be said of its delay, which is only in its place in the queue and so no longer known once it was
 * claimed.
 *
 * @param job the job
 * @param delay from its submission to when it may be claimed; empty if that is no longer known
 */
record SubmittedJob(Job job, Optional<Duration> delay) {
    /** The ids of these jobs, in the order in which they were submitted. */
    static List<String> ids(Scope scope, Condition which) {
        return scope.dsl()
                .select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(which)
                .orderBy(EXECUTION_JOBS.CREATED_AT, EXECUTION_JOBS.OPERATION_ID)
                .fetch(EXECUTION_JOBS.OPERATION_ID);
    }

    /** Jobs in the order of these ids; those that are gone by now are left out. */
    static List<SubmittedJob> read(Scope scope, List<String> ids) {
        Map<String, Instant> due = scope.dsl()
                .select(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.QUEUE_VISIBLE_AT)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(
                        DSL.any(DSL.val(ids.toArray(String[]::new), SQLDataType.CLOB.array()))))
                .and(EXECUTION_JOBS.ATTEMPT_COUNT.eq(0))
                .and(EXECUTION_JOBS.QUEUE_VISIBLE_AT.isNotNull())
                .fetchMap(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.QUEUE_VISIBLE_AT);
        List<SubmittedJob> jobs = new ArrayList<>();
        for (String id : ids) {
            scope.store().jobs().get(id).ifPresent(job -> jobs.add(of(job, due.get(id))));
        }
        return jobs;
    }

    private static SubmittedJob of(Job job, @Nullable Instant due) {
        return new SubmittedJob(job, Optional.ofNullable(due).map(time -> Duration.between(job.createdAt(), time)));
    }
}
