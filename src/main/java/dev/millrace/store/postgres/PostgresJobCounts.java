package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.InvalidJobException;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Count;
import dev.millrace.store.JobCount;
import dev.millrace.store.JobCounts;
import dev.millrace.store.JobQuery;
import dev.millrace.types.JobStatus;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.OrderField;
import org.jooq.Record1;
import org.jooq.Record2;
import org.jooq.Select;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * Counts. A bounded one reads up to so many entries of an index, and rows only where a page was changed since it was last
 * vacuumed. Which kinds and which queues there are is found by jumping through the index, from each to the next.
 */
final class PostgresJobCounts implements JobCounts {
    private static final Field<Long> COUNTED = DSL.field(DSL.name("counted", "jobs"), SQLDataType.BIGINT);

    private static final Table<?> SOURCES = DSL.table(DSL.name("sources"));
    private static final Field<String> PROFILE = DSL.field(DSL.name("sources", "runtime_profile"), String.class);
    private static final Field<String> QUEUE = DSL.field(DSL.name("sources", "queue"), String.class);
    private static final Field<Instant> OLDEST = DSL.field(DSL.name("oldest", "visible_at"), DbTime.INSTANT);

    private static final List<OrderField<?>> QUEUE_ORDER = List.of(
            EXECUTION_JOBS.RUNTIME_PROFILE,
            EXECUTION_JOBS.QUEUE,
            EXECUTION_JOBS.QUEUE_PRIORITY,
            EXECUTION_JOBS.QUEUE_VISIBLE_AT,
            EXECUTION_JOBS.OPERATION_ID);

    private final Database database;

    PostgresJobCounts(Database database) {
        this.database = database;
    }

    @Override
    public List<JobCount> exact(JobQuery query) {
        List<Condition> conditions = JobLists.counting(query);
        return database.run(
                Operation.COUNT,
                dsl -> dsl.select(EXECUTION_JOBS.STATUS, EXECUTION_JOBS.KIND, EXECUTION_JOBS.QUEUE, DSL.count())
                        .from(EXECUTION_JOBS)
                        .where(conditions)
                        .groupBy(EXECUTION_JOBS.STATUS, EXECUTION_JOBS.KIND, EXECUTION_JOBS.QUEUE)
                        .fetch(row -> new JobCount(row.value1(), row.value2(), row.value3(), row.value4())));
    }

    @Override
    public Map<JobStatus, Count> byStatus(int upTo) {
        bound(upTo);
        JobStatus[] all = JobStatus.values();
        Field<JobStatus> status = DSL.field(DSL.name("wanted", "status"), EXECUTION_JOBS.STATUS.getDataType());
        Table<?> wanted = DSL.unnest(
                        DSL.val(all, EXECUTION_JOBS.STATUS.getDataType().array()))
                .as("wanted", "status");
        Map<JobStatus, Count> counts = new EnumMap<>(JobStatus.class);
        database.run(
                        Operation.COUNT_BY_STATUS,
                        dsl -> dsl.select(status, COUNTED)
                                .from(wanted)
                                .crossJoin(counted(
                                        upTo, only(EXECUTION_JOBS.STATUS, status), byTime(EXECUTION_JOBS.STATUS)))
                                .fetch())
                .forEach(row -> counts.put(row.value1(), count(row.value2(), upTo)));
        return counts;
    }

    @Override
    public Map<String, Count> byKind(int upTo) {
        bound(upTo);
        Field<String> kind = DSL.field(DSL.name("kinds", "kind"), String.class);
        CommonTableExpression<Record1<String>> kinds = DSL.name("kinds")
                .fields("kind")
                .as(first(DSL.noCondition())
                        .unionAll(DSL.select(DSL.field(first(EXECUTION_JOBS.KIND.gt(kind))))
                                .from(DSL.table(DSL.name("kinds")))
                                .where(kind.isNotNull())));
        Map<String, Count> counts = new LinkedHashMap<>();
        database.run(
                        Operation.COUNT_BY_KIND,
                        dsl -> dsl.withRecursive(kinds)
                                .select(kind, COUNTED)
                                .from(kinds)
                                .crossJoin(counted(upTo, only(EXECUTION_JOBS.KIND, kind), byTime(EXECUTION_JOBS.KIND)))
                                .where(kind.isNotNull())
                                .fetch())
                .forEach(row -> counts.put(row.value1(), count(row.value2(), upTo)));
        return counts;
    }

    private static Select<Record1<String>> first(Condition condition) {
        return DSL.select(DSL.min(EXECUTION_JOBS.KIND)).from(EXECUTION_JOBS).where(condition);
    }

    @Override
    public Map<ClaimRequest.Source, Count> waiting(int upTo) {
        bound(upTo);
        Map<ClaimRequest.Source, Count> counts = new LinkedHashMap<>();
        database.run(
                        Operation.COUNT_WAITING,
                        dsl -> dsl.withRecursive(sources())
                                .select(PROFILE, QUEUE, COUNTED)
                                .from(SOURCES)
                                .crossJoin(counted(upTo, PostgresJobQueue.due(PROFILE, QUEUE), QUEUE_ORDER))
                                .fetch())
                .forEach(row ->
                        counts.put(new ClaimRequest.Source(row.value1(), row.value2()), count(row.value3(), upTo)));
        return counts;
    }

    @Override
    public Map<ClaimRequest.Source, Duration> oldestWaiting() {
        Map<ClaimRequest.Source, Duration> ages = new LinkedHashMap<>();
        database.run(
                        Operation.OLDEST_WAITING,
                        dsl -> dsl.withRecursive(sources())
                                .select(PROFILE, QUEUE, DbTime.STATEMENT, OLDEST)
                                .from(SOURCES)
                                .crossJoin(oldest())
                                .fetch())
                .forEach(row -> ages.put(
                        new ClaimRequest.Source(row.value1(), row.value2()),
                        row.value4() == null ? Duration.ZERO : Duration.between(row.value4(), row.value3())));
        return ages;
    }

    /**
     * Since when the oldest job of a source is due. The first entry of the index for each priority tells; without the
     * priority all entries of the queue would have to be read, since it comes before the time.
     */
    private static Table<?> oldest() {
        Short[] priorities =
                Arrays.stream(Priority.values()).map(Priority::code).toArray(Short[]::new);
        Table<?> ranks =
                DSL.unnest(DSL.val(priorities, SQLDataType.SMALLINT.array())).as("ranks", "priority");
        Field<Short> rank = DSL.field(DSL.name("ranks", "priority"), SQLDataType.SMALLINT);
        Table<?> first = DSL.select(EXECUTION_JOBS.QUEUE_VISIBLE_AT.as("visible_at"))
                .from(EXECUTION_JOBS)
                .where(PostgresJobQueue.due(PROFILE, QUEUE))
                .and(EXECUTION_JOBS.QUEUE_PRIORITY.coerce(SQLDataType.SMALLINT).eq(rank))
                .orderBy(EXECUTION_JOBS.QUEUE_VISIBLE_AT, EXECUTION_JOBS.OPERATION_ID)
                .limit(DSL.inline(1))
                .asTable(DSL.name("first"));
        Field<Instant> visibleAt = DSL.field(DSL.name("first", "visible_at"), DbTime.INSTANT);
        return DSL.lateral(DSL.select(DSL.min(visibleAt).as("visible_at"))
                .from(ranks)
                .crossJoin(DSL.lateral(first))
                .asTable(DSL.name("oldest")));
    }

    /** Each profile and queue in which jobs have a place. */
    private static CommonTableExpression<Record2<String, String>> sources() {
        Table<Record2<String, String>> next = firstSource(DSL.row(EXECUTION_JOBS.RUNTIME_PROFILE, EXECUTION_JOBS.QUEUE)
                        .gt(PROFILE, QUEUE))
                .asTable(DSL.name("next"));
        return DSL.name("sources")
                .fields("runtime_profile", "queue")
                .as(DSL.select(
                                DSL.field(DSL.name("head", "runtime_profile"), String.class),
                                DSL.field(DSL.name("head", "queue"), String.class))
                        .from(firstSource(DSL.noCondition()).asTable(DSL.name("head")))
                        .unionAll(DSL.select(
                                        DSL.field(DSL.name("next", "runtime_profile"), String.class),
                                        DSL.field(DSL.name("next", "queue"), String.class))
                                .from(SOURCES)
                                .crossJoin(DSL.lateral(next))));
    }

    private static Select<Record2<String, String>> firstSource(Condition condition) {
        return DSL.select(EXECUTION_JOBS.RUNTIME_PROFILE, EXECUTION_JOBS.QUEUE)
                .from(EXECUTION_JOBS)
                .where(JobRows.QUEUED, EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull(), condition)
                .orderBy(EXECUTION_JOBS.RUNTIME_PROFILE, EXECUTION_JOBS.QUEUE)
                .limit(DSL.inline(1));
    }

    @Override
    public Count waiting(ClaimRequest.Source source, int upTo) {
        bound(upTo);
        Condition due = PostgresJobQueue.due(DSL.val(source.runtimeProfile()), DSL.val(source.queue()));
        long jobs = database.run(
                Operation.COUNT_WAITING,
                source.queue(),
                dsl -> dsl.select(COUNTED)
                        .from(counted(upTo, due, QUEUE_ORDER))
                        .fetchSingle()
                        .value1());
        return count(jobs, upTo);
    }

    /** Compared with a list of one, so that the column isn't known to be constant and its order is that of its index. */
    private static <T> Condition only(Field<T> column, Field<T> value) {
        return column.eq(DSL.any(DSL.array(value)));
    }

    private static List<OrderField<?>> byTime(Field<?> column) {
        return List.of(column, EXECUTION_JOBS.CREATED_AT.desc(), EXECUTION_JOBS.OPERATION_ID.desc());
    }

    /**
     * How many rows fulfil the condition: one more than the bound if there are more. They are counted in the order of an
     * index, for then that index is read. Without an order, a planner that thinks such rows frequent reads the table
     * until it has found enough of them, and all of it if it was wrong.
     */
    private static Table<?> counted(int upTo, Condition condition, List<OrderField<?>> order) {
        Table<?> some = DSL.selectOne()
                .from(EXECUTION_JOBS)
                .where(condition)
                .orderBy(order)
                .limit(DSL.inline(upTo + 1))
                .asTable(DSL.name("some"));
        return DSL.lateral(DSL.select(DSL.count().cast(SQLDataType.BIGINT).as("jobs"))
                .from(some)
                .asTable(DSL.name("counted")));
    }

    private static Count count(long counted, int upTo) {
        return new Count(Math.min(counted, upTo), counted <= upTo);
    }

    private static void bound(int upTo) {
        if (upTo < 1 || upTo > MAX_UP_TO) {
            throw new InvalidJobException("upTo", String.valueOf(upTo), "a whole number from 1 to " + MAX_UP_TO);
        }
    }
}
