package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.store.Attempt;
import dev.millrace.store.Pulse;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * Signs of life for many attempts in one statement. It changes no indexed column, so with the table's fill factor the
 * new row versions find room on their pages and no index is touched; at most {@link #CHUNK} rows a statement, since one
 * transaction can't reuse the room that its own old versions take.
 *
 * <p>Rows that someone else has locked are left out rather than waited for: one caller's open transaction must not cost
 * the other jobs their heartbeat. So a row that is missing from the answer says nothing yet. A plain read, which no lock
 * delays, then tells those that are lost from those that were locked.
 */
final class Heartbeat {
    static final int CHUNK = 50;

    private static final DataType<String[]> TEXTS = SQLDataType.CLOB.array();
    private static final Param<String[]> IDS = DSL.param("ids", TEXTS);
    private static final Param<UUID[]> TOKENS = DSL.param("tokens", SQLDataType.UUID.array());

    /** The rows of these attempts. An id and a token that are both in the lists belong together: no token has two ids. */
    private static final Condition OWNED = EXECUTION_JOBS
            .OPERATION_ID
            .eq(DSL.any(IDS))
            .and(SentArray.contains(TOKENS, EXECUTION_JOBS.CLAIM_TOKEN))
            .and(JobRows.LIVE);

    private static final List<Field<?>> ANSWER =
            List.of(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.CLAIM_TOKEN, EXECUTION_JOBS.CANCELLATION_REQUESTED);
    static final Shape BEAT = new Shape(
            ANSWER,
            dsl -> RowLock.skipping(OWNED)
                    .update(dsl, Map.of(EXECUTION_JOBS.LAST_HEARTBEAT_AT, DbTime.LOCKED))
                    .returningResult(ANSWER));

    static final Shape START = new Shape(
            ANSWER,
            dsl -> RowLock.skipping(OWNED)
                    .update(dsl, PostgresWorkSource.started())
                    .returningResult(ANSWER));

    private final Database database;

    Heartbeat(Database database) {
        this.database = database;
    }

    Map<Attempt, Pulse> beat(Collection<Attempt> attempts) {
        return write(Operation.BEAT, BEAT, attempts);
    }

    /** The same, and says that the handlers of these attempts run. Of those that it is news of an index is touched. */
    Map<Attempt, Pulse> start(Collection<Attempt> attempts) {
        return write(Operation.START_ALL, START, attempts);
    }

    private Map<Attempt, Pulse> write(Operation operation, Shape shape, Collection<Attempt> attempts) {
        Map<Attempt, Pulse> pulses = new LinkedHashMap<>();
        List<Attempt> all = List.copyOf(attempts);
        for (int from = 0; from < all.size(); from += CHUNK) {
            List<Attempt> chunk = all.subList(from, Math.min(from + CHUNK, all.size()));
            pulses.putAll(database.run(operation, dsl -> writeChunk(dsl, shape, chunk)));
        }
        return pulses;
    }

    private static Map<Attempt, Pulse> writeChunk(DSLContext dsl, Shape shape, List<Attempt> chunk) {
        Map<Attempt, Pulse> pulses = new HashMap<>();
        shape.fetch(dsl, binds(chunk))
                .forEach(row -> pulses.put(
                        new Attempt(row.get(EXECUTION_JOBS.OPERATION_ID), row.get(EXECUTION_JOBS.CLAIM_TOKEN)),
                        row.get(EXECUTION_JOBS.CANCELLATION_REQUESTED) ? Pulse.CANCELLATION_REQUESTED : Pulse.HELD));
        Set<Attempt> unanswered = new HashSet<>(chunk);
        unanswered.removeAll(pulses.keySet());
        if (!unanswered.isEmpty()) {
            pulses.putAll(lookAt(dsl, unanswered));
        }
        return pulses;
    }

    private static Binds binds(Collection<Attempt> attempts) {
        UUID[] tokens =
                attempts.stream().map(Attempt::token).filter(Objects::nonNull).toArray(UUID[]::new);
        return new Binds().with(IDS, ids(attempts)).with(TOKENS, tokens);
    }

    private static String[] ids(Collection<Attempt> attempts) {
        return attempts.stream().map(Attempt::jobId).distinct().toArray(String[]::new);
    }

    private static Map<Attempt, Pulse> lookAt(DSLContext dsl, Set<Attempt> attempts) {
        Map<String, Record> rows = new HashMap<>();
        dsl.select(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.CLAIM_TOKEN, EXECUTION_JOBS.STATUS)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(DSL.any(DSL.val(ids(attempts), TEXTS))))
                .forEach(row -> rows.put(row.value1(), row));
        Map<Attempt, Pulse> pulses = new HashMap<>();
        for (Attempt attempt : attempts) {
            Record row = rows.get(attempt.jobId());
            boolean mine = row != null
                    && Attempts.isTokenOf(attempt, row.get(EXECUTION_JOBS.CLAIM_TOKEN))
                    && row.get(EXECUTION_JOBS.STATUS).isClaimed();
            pulses.put(attempt, mine ? Pulse.BUSY : Pulse.LOST);
        }
        return pulses;
    }
}
