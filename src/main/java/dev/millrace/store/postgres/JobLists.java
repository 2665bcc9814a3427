package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import dev.millrace.store.LookupKey;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.ResultQuery;
import org.jooq.Select;
import org.jooq.SortField;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Lists of jobs, newest first, each read along an index that has its order, so that a page costs what is on it.
 *
 * <p>Which index is not left to the planner alone. For {@code WHERE kind = ? ORDER BY created_at DESC} it likes to walk
 * through all jobs by their time and leave out other kinds: right where the kind is spread evenly, and a walk through the
 * whole table where its jobs are old. So one condition leads, {@code kind = ANY (ARRAY (SELECT ?)) ORDER BY kind, created_at
 * DESC}: the order of nothing but the index of that column. (With a plain {@code =} the planner knows that the column
 * is constant, drops it from the order, and the index by time has the order as well.) Its value is hidden in a subquery,
 * so that statistics from before the load, which know nothing of it, don't make it read all matches and sort them.
 *
 * <p>The other conditions are filters in plain sight. Where one of them is rare, the planner may read what fulfils it
 * by its own index and sort that; a lookup key has no other way.
 */
final class JobLists {
    private static final List<SortField<?>> NEWEST_FIRST =
            List.of(EXECUTION_JOBS.CREATED_AT.desc(), EXECUTION_JOBS.OPERATION_ID.desc());

    private final Database database;
    private final JobRows rows;

    JobLists(Database database, JobRows rows) {
        this.database = database;
        this.rows = rows;
    }

    JobPage query(JobQuery query) {
        String cursor = query.cursor();
        JobCursor after = cursor == null ? null : JobCursor.of(cursor);
        ResultQuery<Record> page = statement(query, after);
        return database.run(Operation.QUERY, dsl -> page(dsl.fetch(page), query.limit()));
    }

    private JobPage page(Result<Record> found, int limit) {
        List<Job> jobs = new ArrayList<>();
        List<String> unreadable = new ArrayList<>();
        int size = Math.min(limit, found.size());
        for (Record row : found.subList(0, size)) {
            try {
                jobs.add(rows.job(row));
            } catch (UnreadableJobException e) {
                unreadable.add(e.jobId());
            }
        }
        return new JobPage(jobs, unreadable, found.size() > limit ? next(found.get(size - 1)) : Optional.empty());
    }

    private static Optional<String> next(Record last) {
        JobCursor cursor = new JobCursor(last.get(EXECUTION_JOBS.CREATED_AT), last.get(EXECUTION_JOBS.OPERATION_ID));
        return Optional.of(cursor.text());
    }

    private static ResultQuery<Record> statement(JobQuery query, @Nullable JobCursor after) {
        List<JobStatus> statuses = statuses(query);
        boolean ended = statuses.isEmpty() || statuses.stream().anyMatch(JobStatus::isFinal);
        // What has not ended is the smallest part of a table in the long run, whoever's it is.
        if (!ended && (statuses.size() == 1 || query.keys().isEmpty())) {
            return byStatus(query, after, statuses);
        }
        if (!(query.tenants() instanceof JobQuery.Tenants.Any)) {
            List<Condition> conditions = filters(query, after);
            conditions.addAll(kind(query));
            conditions.addAll(oneOf(statuses));
            conditions.add(leading(query.tenants()));
            return ordered(conditions, EXECUTION_JOBS.TENANT_ID.asc(), query);
        }
        String kind = query.kind();
        if (kind != null) {
            List<Condition> conditions = filters(query, after);
            conditions.addAll(oneOf(statuses));
            conditions.add(leading(EXECUTION_JOBS.KIND, DSL.val(kind, EXECUTION_JOBS.KIND)));
            return ordered(conditions, EXECUTION_JOBS.KIND.asc(), query);
        }
        if (statuses.size() == 1 || (!statuses.isEmpty() && query.keys().isEmpty())) {
            return byStatus(query, after, statuses);
        }
        List<Condition> conditions = filters(query, after);
        conditions.addAll(oneOf(statuses));
        return ordered(conditions, null, query);
    }

    /** One status in the order of its index; several as branches of that kind, merged. */
    private static ResultQuery<Record> byStatus(JobQuery query, @Nullable JobCursor after, List<JobStatus> statuses) {
        List<Condition> filters = filters(query, after);
        filters.addAll(kind(query));
        filters.addAll(tenant(query.tenants()));
        if (statuses.size() == 1) {
            return inOrder(filters, statuses.get(0), query);
        }
        Select<Record> merged = statuses.stream()
                .map(status -> branch(inOrder(filters, status, query), status))
                .reduce((one, other) -> one.unionAll(other))
                .orElseThrow();
        Table<Record> all = merged.asTable(DSL.name("jobs"));
        return DSL.select(all.fields())
                .from(all)
                .orderBy(
                        of(all, EXECUTION_JOBS.CREATED_AT).desc(),
                        of(all, EXECUTION_JOBS.OPERATION_ID).desc())
                .limit(DSL.inline(query.limit() + 1));
    }

    private static Select<Record> inOrder(List<Condition> filters, JobStatus status, JobQuery query) {
        List<Condition> conditions = new ArrayList<>(filters);
        conditions.add(leading(EXECUTION_JOBS.STATUS, JobRows.literal(status)));
        return ordered(conditions, EXECUTION_JOBS.STATUS.asc(), query);
    }

    /** The same rows; that all of them are of one status is said again, so that they count as ordered by time alone. */
    private static Select<Record> branch(Select<Record> ordered, JobStatus status) {
        Table<Record> rows = ordered.asTable(DSL.name("of_status"));
        return DSL.select(rows.fields())
                .from(rows)
                .where(of(rows, EXECUTION_JOBS.STATUS).eq(JobRows.literal(status)))
                .orderBy(
                        of(rows, EXECUTION_JOBS.CREATED_AT).desc(),
                        of(rows, EXECUTION_JOBS.OPERATION_ID).desc());
    }

    private static <T> Field<T> of(Table<?> table, Field<T> column) {
        return DSL.field(DSL.name(table.getName(), column.getName()), column.getDataType());
    }

    private static Select<Record> ordered(List<Condition> conditions, @Nullable SortField<?> first, JobQuery query) {
        List<SortField<?>> order = new ArrayList<>();
        if (first != null) {
            order.add(first);
        }
        order.addAll(NEWEST_FIRST);
        return DSL.select(JobRows.FIELDS)
                .from(EXECUTION_JOBS)
                .where(conditions)
                .orderBy(order)
                .limit(DSL.inline(query.limit() + 1));
    }

    /** All statuses are no condition. */
    private static List<JobStatus> statuses(JobQuery query) {
        boolean all = query.statuses().size() == JobStatus.values().length;
        return all ? List.of() : query.statuses().stream().sorted().toList();
    }

    private static Condition leading(JobQuery.Tenants tenants) {
        // NULL is no constant to the planner, so nothing needs to be hidden.
        return tenants instanceof JobQuery.Tenants.Only only
                ? leading(EXECUTION_JOBS.TENANT_ID, DSL.val(only.id(), EXECUTION_JOBS.TENANT_ID))
                : EXECUTION_JOBS.TENANT_ID.isNull();
    }

    private static <T> Condition leading(Field<T> column, Field<T> value) {
        return column.eq(DSL.any(DSL.array(DSL.select(value))));
    }

    private static List<Condition> oneOf(List<JobStatus> statuses) {
        return statuses.isEmpty()
                ? List.of()
                : List.of(EXECUTION_JOBS.STATUS.in(
                        statuses.stream().map(JobRows::literal).toList()));
    }

    /** What a query asks of jobs in a count, where no order is wanted. */
    static List<Condition> counting(JobQuery query) {
        List<Condition> conditions = filters(query, null);
        conditions.addAll(oneOf(statuses(query)));
        conditions.addAll(kind(query));
        conditions.addAll(tenant(query.tenants()));
        return conditions;
    }

    private static List<Condition> kind(JobQuery query) {
        String kind = query.kind();
        return kind == null ? List.of() : List.of(EXECUTION_JOBS.KIND.eq(kind));
    }

    private static List<Condition> tenant(JobQuery.Tenants tenants) {
        if (tenants instanceof JobQuery.Tenants.Only only) {
            return List.of(EXECUTION_JOBS.TENANT_ID.eq(only.id()));
        }
        return tenants instanceof JobQuery.Tenants.None ? List.of(EXECUTION_JOBS.TENANT_ID.isNull()) : List.of();
    }

    /** What no index leads by: the time, the place in the order, and the lookup keys. */
    private static List<Condition> filters(JobQuery query, @Nullable JobCursor after) {
        List<Condition> conditions = new ArrayList<>();
        if (query.createdFrom() != null) {
            conditions.add(EXECUTION_JOBS.CREATED_AT.ge(query.createdFrom()));
        }
        if (query.createdBefore() != null) {
            conditions.add(EXECUTION_JOBS.CREATED_AT.lt(query.createdBefore()));
        }
        if (after != null) {
            conditions.add(DSL.row(EXECUTION_JOBS.CREATED_AT, EXECUTION_JOBS.OPERATION_ID)
                    .lt(
                            DSL.val(after.createdAt(), EXECUTION_JOBS.CREATED_AT),
                            DSL.val(after.id(), EXECUTION_JOBS.OPERATION_ID)));
        }
        if (!query.keys().isEmpty()) {
            conditions.add(EXECUTION_JOBS.LOOKUP_KEYS.contains(keys(query)));
        }
        return conditions;
    }

    /**
     * As literals, since the way to a key that half of all jobs have and to one that a single job has are not the same: once a
     * statement comes often, the server plans it for all values of its parameters, and for an unknown key it takes
     * the walk by time. A backslash is left to a parameter, for the session decides what it means in a literal.
     */
    private static Field<List<String>> keys(JobQuery query) {
        List<String> keys = query.keys().stream().map(LookupKey::text).sorted().toList();
        return keys.stream().anyMatch(key -> key.indexOf('\\') >= 0)
                ? DSL.val(keys, EXECUTION_JOBS.LOOKUP_KEYS)
                : DSL.inline(keys, EXECUTION_JOBS.LOOKUP_KEYS);
    }
}
