package dev.millrace.examples.digests;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.types.JobStatus;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** What the demonstration reads of Millrace's jobs, through their generated table. */
final class JobTable {
    private static final List<JobStatus> CLAIMED = List.of(JobStatus.PROVISIONING, JobStatus.RUNNING);
    private static final List<JobStatus> ENDED = List.of(JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED);
    private static final Field<String> APPLICATION = DSL.field(DSL.name("application_name"), SQLDataType.CLOB);

    private final DSLContext dsl;

    JobTable(DSLContext dsl) {
        this.dsl = dsl;
    }

    /** How many jobs have ended. */
    int ended() {
        return dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.STATUS.in(ENDED));
    }

    /** The ids of the jobs that this worker holds. */
    Set<String> claimedBy(String worker) {
        return new HashSet<>(dsl.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.STATUS.in(CLAIMED))
                .and(EXECUTION_JOBS.CLAIMED_BY.eq(worker))
                .fetch(EXECUTION_JOBS.OPERATION_ID));
    }

    /** Where each job stands. */
    Map<String, JobStatus> statuses() {
        return dsl.select(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.STATUS)
                .from(EXECUTION_JOBS)
                .fetchMap(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.STATUS);
    }

    /** How often each job was claimed. */
    Map<String, Integer> attempts() {
        return dsl.select(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.ATTEMPT_COUNT)
                .from(EXECUTION_JOBS)
                .fetchMap(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.ATTEMPT_COUNT);
    }

    /**
     * Whether the server still has sessions of this application. It works off what a killed process had sent before it
     * died, so only when this is false is it certain what the process left behind.
     */
    boolean hasSessions(String application) {
        return dsl.fetchExists(DSL.table(DSL.name("pg_catalog", "pg_stat_activity")), APPLICATION.eq(application));
    }
}
