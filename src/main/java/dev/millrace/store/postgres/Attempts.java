package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.JobPolicies;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What claims and attempts have in common: which columns make a claim, and the fence. */
final class Attempts {
    private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);

    /** What must be selected for {@link #claim}. */
    static final List<Field<?>> CLAIM_FIELDS = claimFields();

    private static final Param<String> ID = DSL.param("attempt_job", EXECUTION_JOBS.OPERATION_ID.getDataType());
    private static final Param<UUID> TOKEN = DSL.param("attempt_token", EXECUTION_JOBS.CLAIM_TOKEN.getDataType());

    /** {@link #owned} in a {@link Shape}, for the attempt that is {@link #bound}. */
    static final Condition OWNED = owned(ID, TOKEN);

    private static final String UNREADABLE = "Record can't be read";

    private Attempts() {}

    /** The claim of a row that holds {@link #CLAIM_FIELDS}. */
    static Claim claim(JobRows rows, Record row) {
        return new Claim(
                rows.job(row),
                row.get(EXECUTION_JOBS.CLAIM_TOKEN),
                row.get(EXECUTION_JOBS.FORGIVEN_ATTEMPTS),
                row.get(EXECUTION_JOBS.QUEUE_VISIBLE_AT));
    }

    /**
     * The fence: the job still carries the attempt's token and has not ended. A token is drawn for each claim and
     * never again, and every end of an attempt either clears it or makes the status final, so a write that passes was
     * made by the attempt that owns the job now.
     */
    static Condition owned(Attempt attempt) {
        return owned(
                DSL.val(attempt.jobId(), EXECUTION_JOBS.OPERATION_ID),
                DSL.val(attempt.token(), EXECUTION_JOBS.CLAIM_TOKEN));
    }

    private static Condition owned(Field<String> id, Field<UUID> token) {
        return EXECUTION_JOBS
                .OPERATION_ID
                .eq(id)
                .and(EXECUTION_JOBS.CLAIM_TOKEN.eq(token))
                .and(JobRows.LIVE);
    }

    /** The values of a {@link Shape} that is about this attempt. */
    static Binds bound(Attempt attempt) {
        return new Binds().with(ID, attempt.jobId()).with(TOKEN, attempt.token());
    }

    /** The same of a row that was read. */
    static boolean isOwned(Record row, Attempt attempt) {
        return isTokenOf(attempt, row.get(EXECUTION_JOBS.CLAIM_TOKEN))
                && !row.get(EXECUTION_JOBS.STATUS).isFinal();
    }

    /** Whether that token is this attempt's. A job that was seeded as claimed has none, and is no attempt's. */
    static boolean isTokenOf(Attempt attempt, @Nullable UUID token) {
        return token != null && token.equals(attempt.token());
    }

    /** What a write of an attempt assigns besides what it is about. */
    static Map<Field<?>, Object> signOfLife() {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.LAST_HEARTBEAT_AT, DbTime.LOCKED);
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        return values;
    }

    /** The claims of these rows. A job that can't be read ends, so that it neither stops the others nor comes again. */
    static List<Claim> readable(DSLContext dsl, JobRows rows, Iterable<? extends Record> claimed) {
        List<Claim> claims = new ArrayList<>();
        for (Record row : claimed) {
            try {
                claims.add(claim(rows, row));
            } catch (UnreadableJobException e) {
                LOG.error("A claimed job fails: {}", e.getMessage(), e);
                try {
                    failUnreadable(dsl, row);
                } catch (DataAccessException again) {
                    if (!Session.isOwn(dsl)) {
                        throw again; // it has ended the caller's transaction
                    }
                    // The others are claimed and must not be lost with it; its heartbeat will expire.
                    LOG.error("Job \"{}\" could not be ended.", e.jobId(), again);
                }
            }
        }
        return claims;
    }

    /** Ends a job whose record can't be read, without touching the record: an operator can mend it and retry. */
    static void failUnreadable(DSLContext dsl, Record row) {
        RowLock lock = RowLock.waiting(
                EXECUTION_JOBS.OPERATION_ID.eq(row.get(EXECUTION_JOBS.OPERATION_ID)),
                EXECUTION_JOBS.CLAIM_TOKEN.isNotDistinctFrom(row.get(EXECUTION_JOBS.CLAIM_TOKEN)),
                JobRows.CLAIMED);
        lock.update(dsl, unreadable()).execute();
    }

    /** What is assigned to such a job: it fails, and says why where it can. */
    static Map<Field<?>, Object> unreadable() {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.FAILED));
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(1));
        values.put(EXECUTION_JOBS.CURRENT_PHASE, UNREADABLE);
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        CompareAndSet.ended(values, JobPolicies.DEFAULT_RETENTION);
        return values;
    }

    /** Whether the row shows that ending of this attempt. */
    static boolean failedAsUnreadable(Record row, Attempt attempt) {
        return row.get(EXECUTION_JOBS.STATUS) == JobStatus.FAILED
                && UNREADABLE.equals(row.get(EXECUTION_JOBS.CURRENT_PHASE))
                && isTokenOf(attempt, row.get(EXECUTION_JOBS.CLAIM_TOKEN));
    }

    private static List<Field<?>> claimFields() {
        List<Field<?>> fields = new ArrayList<>(JobRows.FIELDS);
        fields.add(EXECUTION_JOBS.CLAIM_TOKEN);
        fields.add(EXECUTION_JOBS.FORGIVEN_ATTEMPTS);
        fields.add(EXECUTION_JOBS.QUEUE_VISIBLE_AT);
        return List.copyOf(fields);
    }
}
