package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.store.ClaimRequest;
import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Name;
import org.jooq.OrderField;
import org.jooq.Param;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.Result;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * The statements that claim: each locks up to n rows that are due, skipping those that others hold, and updates exactly
 * these.
 *
 * <p>The rows are found by one LATERAL branch for each source and priority ({@link Branches}), in order, so that the
 * branches are read one after another and only until n rows are locked. A branch per priority keeps a claim cheap where many urgent jobs are
 * due only later: an index range over all priorities would walk through them. There is no ORDER BY around the branches,
 * which would read, and so lock, all of them first; and none of them is a join that the planner could turn into one that
 * locks more, since the rows are locked inside and counted outside.
 *
 * <p>Which rows a branch reads depends on the kinds that are asked for:
 *
 * <ul>
 *   <li>all kinds: the queue in its order;
 *   <li>one kind: the same order within that kind, by the index that leads to it;
 *   <li>several: first the queue in its order, but at most {@link #WINDOW} rows of it, since the rows of other kinds are
 *       read in vain; if none of them can be claimed, kind by kind, starting with another one each time.
 * </ul>
 *
 * While claims are held ({@link HoldSwitch}) no branch is read at all: the condition stands around them, and depends on none.
 * Queues and kinds that are paused ({@link Pauses}) have no branch. Where a claim is for all kinds, rows of paused ones are read
 * in vain, however many there are; workers always name theirs.
 *
 * <p>Each branch begins where it is told to ({@link Branches}).
 *
 * <p>So the order is the queue's unless its head is full of other workers' jobs, the cost is bounded by n either way, and
 * an empty answer means that nothing can be claimed.
 *
 * <p>n is a parameter, and within it are limits that are part of the text: n rounded up to a power of two. Without these the
 * planner would expect a tenth of all that branches could return where it plans once for all values, find that dear, and so
 * plan anew each time. As they are rounded there are few texts, which the server keeps prepared for each connection.
 */
enum ClaimShape {
    /** All kinds, in the queue's order. */
    IN_ORDER,
    /** Several kinds, in the queue's order: of its first rows, those of other kinds left out. */
    IN_WINDOW,
    /** Kind by kind, each in the queue's order. */
    KIND_BY_KIND;

    /** How many rows beyond n, rounded up, are read in the queue's order before the kinds are looked up one by one. */
    static final int WINDOW = 100;

    /** What a job says that was claimed, until it is started. */
    static final String PHASE = "Claimed";

    private static final Field<Short> PRIORITY = EXECUTION_JOBS.QUEUE_PRIORITY.coerce(SQLDataType.SMALLINT);
    private static final List<OrderField<?>> QUEUE_ORDER =
            List.of(EXECUTION_JOBS.QUEUE_VISIBLE_AT, EXECUTION_JOBS.OPERATION_ID);

    private static final Param<Integer> LIMIT = DSL.param("claim_limit", SQLDataType.INTEGER);
    private static final Param<UUID[]> TOKENS = DSL.param("claim_tokens", SQLDataType.UUID.array());
    private static final Param<String> WORKER = DSL.param("claim_worker", EXECUTION_JOBS.CLAIMED_BY.getDataType());
    private static final Param<String[]> KINDS = DSL.param("claim_kinds", SQLDataType.CLOB.array());

    private static final Name FREE = DSL.name("free");
    private static final Field<String> FREE_ID =
            DSL.field(DSL.name("free", "operation_id"), EXECUTION_JOBS.OPERATION_ID.getDataType());
    private static final Field<String> HEAD_ID =
            DSL.field(DSL.name("head", "operation_id"), EXECUTION_JOBS.OPERATION_ID.getDataType());
    private static final Field<String> HEAD_KIND = DSL.field(DSL.name("head", "kind"), String.class);

    /** Where a claimed job is in the order of the claim. */
    static final Field<Integer> POSITION = DSL.field(DSL.name("number"), SQLDataType.INTEGER);

    private static final List<Field<?>> RETURNED = returned();

    /** Of each way, by the power of two that is the limit of its branches. */
    static final Map<ClaimShape, List<Shape>> SHAPES = shapes();

    private static Map<ClaimShape, List<Shape>> shapes() {
        Map<ClaimShape, List<Shape>> shapes = new EnumMap<>(ClaimShape.class);
        for (ClaimShape way : values()) {
            shapes.put(
                    way,
                    IntStream.rangeClosed(0, power(ClaimRequest.MAX_LIMIT))
                            .mapToObj(power -> new Shape(RETURNED, dsl -> way.compose(dsl, 1 << power)))
                            .toList());
        }
        return Collections.unmodifiableMap(shapes);
    }

    /** That of the smallest power of two that is not less. */
    static int power(int limit) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(limit - 1);
    }

    /** The claimed rows, in no order. */
    Result<Record> claim(DSLContext dsl, ClaimRequest request, Branches branches) {
        Binds binds = branches.bound()
                .with(LIMIT, request.limit())
                .with(TOKENS, request.tokens().toArray(UUID[]::new))
                .with(WORKER, request.worker())
                .with(KINDS, request.kinds().toArray(String[]::new));
        return Objects.requireNonNull(SHAPES.get(this))
                .get(power(request.limit()))
                .fetch(dsl, binds);
    }

    private Query compose(DSLContext dsl, int most) {
        CommonTableExpression<Record1<String>> locked = DSL.name("locked")
                .asMaterialized(DSL.select(FREE_ID)
                        .from(DSL.select(FREE_ID)
                                .from(branches(most))
                                .where(HoldSwitch.NOT_HELD)
                                .limit(DSL.inline(most))
                                .asTable(FREE))
                        .limit(LIMIT));
        Field<String> lockedId = locked.field(EXECUTION_JOBS.OPERATION_ID);
        Field<Integer> number = DSL.rowNumber().over().cast(SQLDataType.INTEGER).as("number");
        CommonTableExpression<?> numbered =
                DSL.name("numbered").as(DSL.select(lockedId, number).from(locked));
        Field<Integer> position = DSL.field(DSL.name("numbered", "number"), SQLDataType.INTEGER);
        List<Field<?>> returned = new ArrayList<>(Attempts.CLAIM_FIELDS);
        returned.add(position.as(POSITION));
        return dsl.with(locked, numbered)
                .update(EXECUTION_JOBS)
                .set(assignments(WORKER, DSL.arrayGet(SentArray.once(TOKENS), position), DbTime.STATEMENT))
                .from(numbered)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(
                        DSL.field(DSL.name("numbered", "operation_id"), EXECUTION_JOBS.OPERATION_ID.getDataType())))
                .and(JobRows.QUEUED)
                .returningResult(returned);
    }

    private static List<Field<?>> returned() {
        List<Field<?>> fields = new ArrayList<>(Attempts.CLAIM_FIELDS);
        fields.add(POSITION);
        return List.copyOf(fields);
    }

    private Table<? extends Record> branches(int most) {
        return switch (this) {
            case IN_ORDER -> Branches.crossJoin(locking(most, claimable().and(Pauses.notKind(EXECUTION_JOBS.KIND))));
            case IN_WINDOW -> Branches.crossJoin(window(most)).crossJoin(DSL.lateral(wantedInWindow()));
            case KIND_BY_KIND -> Branches.crossJoin(locking(most, claimableOfKind()));
        };
    }

    private static Table<?> window(int most) {
        return DSL.select(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.KIND)
                .from(EXECUTION_JOBS)
                .where(claimable())
                .orderBy(QUEUE_ORDER)
                .limit(DSL.inline(most + WINDOW))
                .asTable(DSL.name("head"));
    }

    /**
     * Checked again on the locked row, without the place's priority: with it the planner would look for the id in the index
     * of the queue, through the whole backlog, rather than in the primary key.
     */
    private static Table<?> wantedInWindow() {
        return DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(HEAD_ID))
                .and(SentArray.contains(KINDS, HEAD_KIND))
                .and(Pauses.notKind(HEAD_KIND))
                .and(JobRows.QUEUED)
                .and(EXECUTION_JOBS.QUEUE_VISIBLE_AT.le(DbTime.STATEMENT))
                .forNoKeyUpdate()
                .skipLocked()
                .asTable(FREE);
    }

    private static Table<?> locking(int most, Condition condition) {
        return DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(condition)
                .orderBy(QUEUE_ORDER)
                .limit(DSL.inline(most))
                .forNoKeyUpdate()
                .skipLocked()
                .asTable(FREE);
    }

    /**
     * The same of the branch's kind, by the index that leads to kinds and by no other: the queue's own index has the order
     * as well, and a planner that thinks the backlog short walks through all of it for a kind that isn't there. So the
     * status is said in the words of the index that is meant, between Queued and Queued, from which the planner doesn't
     * conclude that the row is in the other one. That a kind is not empty is said only here, and unlocks the index.
     */
    private static Condition claimableOfKind() {
        Field<JobStatus> queued = JobRows.literal(JobStatus.QUEUED);
        return dueInBranch(EXECUTION_JOBS.STATUS.between(queued, queued))
                .and(EXECUTION_JOBS.KIND.ne(DSL.inline("")))
                .and(EXECUTION_JOBS.KIND.eq(Branches.KIND));
    }

    /** Queued, in this branch's place, and due; checked again on the row once it is locked. */
    private static Condition claimable() {
        return dueInBranch(JobRows.QUEUED);
    }

    private static Condition dueInBranch(Condition queued) {
        return queued.and(EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull())
                .and(EXECUTION_JOBS.RUNTIME_PROFILE.eq(Branches.PROFILE))
                .and(EXECUTION_JOBS.QUEUE.eq(Branches.QUEUE))
                .and(PRIORITY.eq(Branches.PRIORITY))
                .and(EXECUTION_JOBS.QUEUE_VISIBLE_AT.le(DbTime.STATEMENT))
                .and(DSL.row(EXECUTION_JOBS.QUEUE_VISIBLE_AT, EXECUTION_JOBS.OPERATION_ID)
                        .ge(DSL.row(Branches.SINCE, Branches.SINCE_ID)));
    }

    /** What each claim assigns. */
    static Map<Field<?>, Object> assignments(Field<String> worker, Field<UUID> token, Field<Instant> now) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.PROVISIONING));
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(DSL.inline(1)));
        values.put(EXECUTION_JOBS.ATTEMPT_COUNT, EXECUTION_JOBS.ATTEMPT_COUNT.plus(DSL.inline(1)));
        values.put(EXECUTION_JOBS.CLAIM_TOKEN, token);
        values.put(EXECUTION_JOBS.CLAIMED_BY, worker);
        values.put(EXECUTION_JOBS.CLAIMED_AT, now);
        values.put(EXECUTION_JOBS.LAST_HEARTBEAT_AT, now);
        values.put(EXECUTION_JOBS.UPDATED_AT, now);
        JobRows.putNull(values, EXECUTION_JOBS.NEXT_RETRY_AT);
        JobRows.putNull(values, EXECUTION_JOBS.PERCENT_COMPLETE);
        values.put(EXECUTION_JOBS.CURRENT_PHASE, DSL.inline(PHASE));
        return values;
    }
}
