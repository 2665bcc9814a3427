package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_EVENT_IDENTITIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;

import dev.millrace.jooq.tables.ExecutionJobLogStreams;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jooq.CommonTableExpression;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Name;
import org.jooq.Record;
import org.jooq.Records;
import org.jooq.ResultQuery;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * The statement that appends to a log. Its parts see one snapshot, taken before any of them has waited for another caller,
 * so nothing that matters is read from that:
 *
 * <ol>
 *   <li>{@code locked} locks the stream's row, if there is one. Whoever holds it is alone with the stream, and of those
 *       that wait nobody holds anything else.
 *   <li>{@code identities} inserts the event ids. Which of them are new is decided by the primary key, which sees what others
 *       have committed since the snapshot and waits for what they haven't; in the order of the ids, for the case that
 *       several append the first lines of a stream.
 *   <li>{@code stream} creates the stream or adds to its counts as they are in the locked row, and returns them. The
 *       sequences of the new lines are the last ones of that count.
 *   <li>{@code entries} inserts those that are kept, and {@code trimmed} deletes those that are not any more. It does not
 *       see what others have appended since the snapshot. Readers don't see that, because they go by the count; but it is
 *       counted, and deleted by {@link #trimTheRest a statement of its own}, so that a log takes no more room than it may.
 * </ol>
 */
final class LogAppend {
    private static final ExecutionJobLogStreams STREAMS = EXECUTION_JOB_LOG_STREAMS;

    /** How far behind the dropped lines of earlier calls one looks for those of a call that failed to delete the rest. */
    private static final long LEFT_BEHIND = 1_000;

    /** The expiry is moved further than it must, by this part of the retention, so that it is moved seldom: it is indexed. */
    private static final int SLACK_DIVISOR = 100;

    private static final Field<Integer> POSITION = DSL.field(DSL.name("series", "position"), SQLDataType.INTEGER);

    private static final Name LOCKED = DSL.name("locked");
    private static final Name EVENTS = DSL.name("events");
    private static final Name IDENTITIES = DSL.name("identities");
    private static final Name FRESH = DSL.name("fresh");
    private static final Name STREAM = DSL.name("stream");
    private static final Name NUMBERED = DSL.name("numbered");
    private static final Name TRIMMED = DSL.name("trimmed");

    private static final Field<Integer> EVENT_POSITION = DSL.field(DSL.name("events", "position"), SQLDataType.INTEGER);
    private static final Field<String> EVENT_ID = DSL.field(DSL.name("events", "event_id"), SQLDataType.CLOB);
    private static final Field<String> EVENT_ENTRY = DSL.field(DSL.name("events", "entry"), SQLDataType.CLOB);
    private static final Field<String> NEW_ID = DSL.field(DSL.name("identities", "event_id"), SQLDataType.CLOB);
    private static final Field<Integer> OFFSET = DSL.field(DSL.name("fresh", "offset"), SQLDataType.INTEGER);
    private static final Field<String> FRESH_ENTRY = DSL.field(DSL.name("fresh", "entry"), SQLDataType.CLOB);
    private static final Field<Long> APPENDED = DSL.field(DSL.name("numbered", "appended_count"), SQLDataType.BIGINT);
    private static final Field<Long> DROPPED = DSL.field(DSL.name("numbered", "dropped_count"), SQLDataType.BIGINT);
    private static final Field<String> AT = DSL.field(DSL.name("numbered", "at"), SQLDataType.CLOB);

    /** No event's id, and so sent for none: a session with {@code array_nulls=off} reads a null as the text "null". */
    private static final String NO_EVENT = "";

    private final String jobId;
    private final String[] entries;
    private final String[] eventIds;
    private final LogSettings settings;

    /**
     * @param lines no two of one event
     */
    LogAppend(String jobId, List<LogEntry> lines, LogCodec codec, LogSettings settings) {
        this.jobId = jobId;
        this.entries = lines.stream().map(codec::encode).toArray(String[]::new);
        this.eventIds = lines.stream()
                .map(line -> Objects.requireNonNullElse(line.eventId(), NO_EVENT))
                .toArray(String[]::new);
        this.settings = settings;
    }

    /**
     * What has been done.
     *
     * @param fresh how many lines were new
     * @param droppedBefore the first line that this call may have dropped
     * @param dropped the first line that is kept
     * @param appendedBefore the first new line
     * @param trimmed how many of the dropped ones are deleted
     */
    record Appended(int fresh, long droppedBefore, long dropped, long appendedBefore, int trimmed) {
        /** Whether there are dropped lines that the statement could not see. New ones were not inserted. */
        boolean leavesSomeBehind() {
            return Math.min(dropped, appendedBefore) - droppedBefore > trimmed;
        }
    }

    /** Appends. */
    Appended execute(DSLContext dsl) {
        Field<Long> trimmed = DSL.field(TRIMMED.append("sequence"), SQLDataType.BIGINT);
        return dsl.with(locked(), events(), identities(), fresh(), stream(), numbered())
                .with(DSL.name("entries").as(entries()))
                .with(TRIMMED.as(trimmed()))
                .select(
                        number(FRESH),
                        droppedBefore(),
                        DSL.field(DSL.select(DROPPED).from(NUMBERED)),
                        DSL.field(DSL.select(APPENDED).from(NUMBERED)).minus(number(FRESH)),
                        DSL.field(DSL.selectCount().from(TRIMMED).where(trimmed.ge(droppedBefore()))))
                .fetchSingle(Records.mapping(Appended::new));
    }

    /** Deletes the dropped lines that the statement could not see, because it had waited for those that wrote them. */
    void trimTheRest(DSLContext dsl, Appended appended) {
        var entry = EXECUTION_JOB_LOG_ENTRIES;
        dsl.deleteFrom(entry)
                .where(entry.OPERATION_ID.eq(jobId))
                .and(entry.SEQUENCE.ge(appended.droppedBefore))
                .and(entry.SEQUENCE.lt(appended.dropped))
                .execute();
    }

    private CommonTableExpression<?> locked() {
        return LOCKED.asMaterialized(DSL.select(STREAMS.DROPPED_COUNT)
                .from(STREAMS)
                .where(STREAMS.OPERATION_ID.eq(jobId))
                .forNoKeyUpdate());
    }

    /** The lines, once the stream is locked: counting what is locked makes these wait for it. */
    private CommonTableExpression<?> events() {
        return EVENTS.asMaterialized(DSL.select(
                        POSITION.as("position"),
                        DSL.nullif(DSL.arrayGet(once(eventIds), POSITION), DSL.inline(NO_EVENT))
                                .as("event_id"),
                        DSL.arrayGet(once(entries), POSITION).as("entry"))
                .from(DSL.select(DSL.count().as("rows")).from(LOCKED).asTable("held"))
                .crossJoin(DSL.generateSeries(1, entries.length).as("series", "position")));
    }

    private static Field<String[]> once(String[] values) {
        return SentArray.once(DSL.val(values, SQLDataType.CLOB.array()));
    }

    private CommonTableExpression<?> identities() {
        var identity = EXECUTION_JOB_LOG_EVENT_IDENTITIES;
        return IDENTITIES.as(DSL.insertInto(identity, identity.OPERATION_ID, identity.EVENT_ID)
                .select(DSL.select(DSL.val(jobId, identity.OPERATION_ID), EVENT_ID)
                        .from(EVENTS)
                        .where(EVENT_ID.isNotNull())
                        .orderBy(EVENT_ID))
                .onConflictDoNothing()
                .returningResult(identity.EVENT_ID));
    }

    private static CommonTableExpression<?> fresh() {
        return FRESH.asMaterialized(DSL.select(
                        DSL.rowNumber().over(DSL.orderBy(EVENT_POSITION)).as("offset"), EVENT_ENTRY.as("entry"))
                .from(EVENTS)
                .where(EVENT_ID.isNull().or(EVENT_ID.in(DSL.select(NEW_ID).from(IDENTITIES)))));
    }

    private CommonTableExpression<?> stream() {
        Field<Long> fresh = number(FRESH).cast(SQLDataType.BIGINT);
        Field<Long> kept = DSL.inline((long) settings.maxLogEntries());
        Field<Long> all = STREAMS.APPENDED_COUNT.plus(DSL.excluded(STREAMS.APPENDED_COUNT));
        return STREAM.as(DSL.insertInto(
                        STREAMS,
                        STREAMS.OPERATION_ID,
                        STREAMS.APPENDED_COUNT,
                        STREAMS.DROPPED_COUNT,
                        STREAMS.EVENT_IDENTITY_COUNT,
                        STREAMS.EXPIRES_AT)
                .select(DSL.select(
                        DSL.val(jobId, STREAMS.OPERATION_ID),
                        fresh,
                        DSL.greatest(DSL.inline(0L), fresh.minus(kept)),
                        number(IDENTITIES),
                        newExpiry()))
                .onConflict(STREAMS.OPERATION_ID)
                .doUpdate()
                .set(STREAMS.APPENDED_COUNT, all)
                .set(STREAMS.DROPPED_COUNT, DSL.greatest(STREAMS.DROPPED_COUNT, all.minus(kept)))
                .set(
                        STREAMS.EVENT_IDENTITY_COUNT,
                        STREAMS.EVENT_IDENTITY_COUNT.plus(DSL.excluded(STREAMS.EVENT_IDENTITY_COUNT)))
                .set(
                        STREAMS.EXPIRES_AT,
                        DSL.when(STREAMS.EXPIRES_AT.lt(DbTime.plus(DbTime.CLOCK, settings.logRetention())), newExpiry())
                                .otherwise(STREAMS.EXPIRES_AT))
                .returningResult(STREAMS.APPENDED_COUNT, STREAMS.DROPPED_COUNT));
    }

    private Field<Instant> newExpiry() {
        Duration retention = settings.logRetention();
        return DbTime.plus(DbTime.CLOCK, retention.plus(retention.dividedBy(SLACK_DIVISOR)));
    }

    /** The counts as they are now, and the time, once for all lines: taken when the stream is ours. */
    private static CommonTableExpression<?> numbered() {
        Field<String> at = DSL.function(
                DSL.name("pg_catalog", "to_char"),
                SQLDataType.CLOB,
                DSL.function(
                        DSL.name("pg_catalog", "timezone"), SQLDataType.LOCALDATETIME, DSL.inline("UTC"), DbTime.CLOCK),
                DSL.inline("YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\""));
        return NUMBERED.asMaterialized(DSL.select(
                        DSL.field(DSL.name("stream", "appended_count"), SQLDataType.BIGINT),
                        DSL.field(DSL.name("stream", "dropped_count"), SQLDataType.BIGINT),
                        at.as("at"))
                .from(STREAM));
    }

    private ResultQuery<? extends Record> entries() {
        var entry = EXECUTION_JOB_LOG_ENTRIES;
        Field<Long> sequence = APPENDED.minus(number(FRESH)).plus(OFFSET).minus(DSL.inline(1));
        Field<String> stamped =
                DSL.concat(DSL.inline("{\"at\":\""), AT, DSL.inline("\","), DSL.substring(FRESH_ENTRY, DSL.inline(2)));
        return DSL.insertInto(entry, entry.OPERATION_ID, entry.SEQUENCE, entry.ENTRY)
                .select(DSL.select(
                                DSL.val(jobId, entry.OPERATION_ID), sequence, stamped.cast(entry.ENTRY.getDataType()))
                        .from(FRESH)
                        .crossJoin(DSL.table(NUMBERED))
                        .where(sequence.ge(DROPPED)))
                .returningResult(entry.SEQUENCE);
    }

    private ResultQuery<? extends Record> trimmed() {
        var entry = EXECUTION_JOB_LOG_ENTRIES;
        Field<Long> dropped = DSL.field(DSL.select(DROPPED).from(NUMBERED));
        return DSL.deleteFrom(entry)
                .where(entry.OPERATION_ID.eq(jobId))
                .and(entry.SEQUENCE.lt(dropped))
                .and(entry.SEQUENCE.ge(droppedBefore().minus(DSL.inline(LEFT_BEHIND))))
                .returningResult(entry.SEQUENCE);
    }

    private static Field<Long> droppedBefore() {
        Field<Long> before = DSL.field(DSL.select(DSL.field(DSL.name("locked", "dropped_count"), SQLDataType.BIGINT))
                .from(LOCKED));
        return DSL.coalesce(before, DSL.inline(0L));
    }

    private static Field<Integer> number(Name part) {
        return DSL.field(DSL.selectCount().from(part));
    }
}
