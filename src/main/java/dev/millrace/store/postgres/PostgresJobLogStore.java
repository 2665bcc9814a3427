package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.jooq.tables.ExecutionJobLogEntries;
import dev.millrace.jooq.tables.ExecutionJobLogStreams;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEventLimitException;
import dev.millrace.store.LogLine;
import dev.millrace.store.LogPage;
import dev.millrace.store.LogSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.SelectSeekStep1;
import org.jooq.SortField;
import org.jooq.Table;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logs of jobs. A log's row in the table of streams says what of its entries counts. */
final class PostgresJobLogStore implements JobLogStore {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresJobLogStore.class);
    private static final ExecutionJobLogStreams STREAMS = EXECUTION_JOB_LOG_STREAMS;
    private static final ExecutionJobLogEntries ENTRIES = EXECUTION_JOB_LOG_ENTRIES;
    private static final String EVENT_LIMIT = "execution_job_log_streams_event_identity_limit";

    private final Database database;
    private final LogSettings settings;
    private final LogCodec codec = new LogCodec();

    PostgresJobLogStore(Database database, LogSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    @Override
    public int append(String jobId, List<LogEntry> entries) {
        Checks.id("jobId", jobId);
        if (entries.size() > MAX_BATCH) {
            throw new InvalidJobException("entries", entries.size() + " lines", "at most " + MAX_BATCH + " lines");
        }
        List<LogEntry> lines = firstOfEachEvent(entries);
        if (lines.isEmpty()) {
            return 0;
        }
        boolean repeatable = lines.stream().allMatch(line -> line.eventId() != null);
        LogAppend append = new LogAppend(jobId, lines, codec, settings);
        LogAppend.Appended appended = database.run(
                repeatable ? Operation.APPEND : Operation.APPEND_WITHOUT_EVENT_ID,
                jobId,
                dsl -> appendWithinLimit(dsl, jobId, append));
        if (appended.leavesSomeBehind()) {
            trimTheRest(jobId, append, appended);
        }
        return appended.fresh();
    }

    /** The lines are appended by then: in a transaction of ours nobody needs to know that this failed. */
    private void trimTheRest(String jobId, LogAppend append, LogAppend.Appended appended) {
        try {
            database.run(Operation.APPEND, jobId, dsl -> {
                append.trimTheRest(dsl, appended);
                return true;
            });
        } catch (RuntimeException e) {
            if (database.isCallers()) {
                throw e;
            }
            LOG.debug("Lines that job \"{}\" has dropped from its log are still in the table", jobId, e);
        }
    }

    private static List<LogEntry> firstOfEachEvent(List<LogEntry> entries) {
        Set<String> events = new HashSet<>();
        return entries.stream()
                .filter(entry -> entry.eventId() == null || events.add(entry.eventId()))
                .toList();
    }

    private static LogAppend.Appended appendWithinLimit(DSLContext dsl, String jobId, LogAppend append) {
        try {
            return append.execute(dsl);
        } catch (DataAccessException e) {
            PSQLException failure = e.getCause(PSQLException.class);
            if (failure != null
                    && failure.getServerErrorMessage() != null
                    && EVENT_LIMIT.equals(failure.getServerErrorMessage().getConstraint())) {
                throw new LogEventLimitException(jobId, e);
            }
            throw e;
        }
    }

    @Override
    public LogPage tail(String jobId, int limit) {
        return read(jobId, DSL.noCondition(), ENTRIES.SEQUENCE.desc(), limit, 0);
    }

    @Override
    public LogPage page(String jobId, @Nullable String cursor, int limit) {
        long from = cursor == null ? 0 : LogCursor.sequence(cursor);
        return read(jobId, ENTRIES.SEQUENCE.ge(from), ENTRIES.SEQUENCE.asc(), limit, from);
    }

    /** The counts and the lines in one statement, and so of one moment. A row of counts is there without lines as well. */
    private LogPage read(String jobId, Condition which, SortField<Long> order, int limit, long from) {
        Checks.id("jobId", jobId);
        if (limit < 1 || limit > MAX_PAGE) {
            throw new InvalidJobException("limit", String.valueOf(limit), "a whole number from 1 to " + MAX_PAGE);
        }
        SelectSeekStep1<? extends Record, Long> found = DSL.select(ENTRIES.SEQUENCE, ENTRIES.ENTRY)
                .from(ENTRIES)
                .where(ENTRIES.OPERATION_ID.eq(STREAMS.OPERATION_ID))
                .and(ENTRIES.SEQUENCE.ge(STREAMS.DROPPED_COUNT))
                .and(which)
                .orderBy(order);
        Table<?> line = found.limit(limit).asTable("line");
        Field<Long> sequence = DSL.field(DSL.name("line", "sequence"), ENTRIES.SEQUENCE.getDataType());
        return database.run(
                Operation.READ_LOG,
                jobId,
                dsl -> page(
                        from,
                        dsl.select(STREAMS.APPENDED_COUNT, STREAMS.DROPPED_COUNT, sequence, line.field(ENTRIES.ENTRY))
                                .from(STREAMS)
                                .leftJoin(DSL.lateral(line))
                                .on(DSL.trueCondition())
                                .where(STREAMS.OPERATION_ID.eq(jobId))
                                .orderBy(sequence)
                                .fetch()));
    }

    private LogPage page(long from, Result<? extends Record> rows) {
        if (rows.isEmpty()) {
            return new LogPage(List.of(), 0, 0, LogCursor.of(from), false);
        }
        List<LogLine> lines = new ArrayList<>(rows.size());
        for (Record row : rows) {
            Long sequence = row.get(ENTRIES.SEQUENCE);
            if (sequence != null) {
                lines.add(codec.decode(sequence, row.get(ENTRIES.ENTRY)));
            }
        }
        long appended = rows.get(0).get(STREAMS.APPENDED_COUNT);
        long next = lines.isEmpty()
                ? Math.max(from, 0)
                : lines.get(lines.size() - 1).sequence() + 1;
        return new LogPage(
                lines, appended, rows.get(0).get(STREAMS.DROPPED_COUNT), LogCursor.of(next), next < appended);
    }

    @Override
    public boolean setRetention(String jobId, Duration retention) {
        Checks.id("jobId", jobId);
        Duration checked = Checks.delay("retention", retention);
        return database.run(Operation.KEEP_LOG, jobId, dsl -> {
            var locked = DSL.name("locked")
                    .asMaterialized(DSL.select(STREAMS.OPERATION_ID)
                            .from(STREAMS)
                            .where(STREAMS.OPERATION_ID.eq(jobId))
                            .forNoKeyUpdate());
            return dsl.with(locked)
                            .update(STREAMS)
                            .set(STREAMS.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, checked))
                            .from(locked)
                            .where(STREAMS.OPERATION_ID.eq(locked.field(STREAMS.OPERATION_ID)))
                            .execute()
                    == 1;
        });
    }
}
