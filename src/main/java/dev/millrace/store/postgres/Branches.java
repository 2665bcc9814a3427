package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.store.ClaimRequest;
import dev.millrace.store.postgres.QueueHeads.Place;
import dev.millrace.types.Priority;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.TableLike;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * The branches of a claim in the order in which they are to be read: source by source, in each the most urgent first, in
 * each of these kind by kind if there are kinds.
 *
 * <p>One list, made here, and one table to drive the others. A join of a list of sources with one of priorities and one
 * of kinds has no order: the planner puts the shortest outermost, and a Low job of one kind would go before a Critical
 * one of another. The arrays also make one text of the statement for any number of branches.
 */
final class Branches {
    private static final Field<Integer> NUMBER =
            DSL.field(DSL.name("branches", "number"), SQLDataType.BIGINT).cast(SQLDataType.INTEGER);

    private static final Param<String[]> PROFILES = texts("branch_profiles");
    private static final Param<String[]> QUEUES = texts("branch_queues");
    private static final Param<Short[]> PRIORITIES = DSL.param("branch_priorities", SQLDataType.SMALLINT.array());
    private static final Param<String[]> KINDS = texts("branch_kinds");
    private static final Param<String[]> SINCES = texts("branch_since");
    private static final Param<String[]> SINCE_IDS = texts("branch_since_ids");

    static final Field<String> PROFILE = DSL.field(DSL.name("branch", "runtime_profile"), SQLDataType.CLOB);
    static final Field<String> QUEUE = DSL.field(DSL.name("branch", "queue"), SQLDataType.CLOB);
    static final Field<Short> PRIORITY = DSL.field(DSL.name("branch", "priority"), SQLDataType.SMALLINT);
    static final Field<String> KIND = DSL.field(DSL.name("branch", "kind"), SQLDataType.CLOB);

    /** Where the branch begins. */
    static final Field<Instant> SINCE =
            DSL.field(DSL.name("branch", "since"), EXECUTION_JOBS.QUEUE_VISIBLE_AT.getDataType());

    static final Field<String> SINCE_ID = DSL.field(DSL.name("branch", "since_id"), SQLDataType.CLOB);

    private final List<String> profiles = new ArrayList<>();
    private final List<String> queues = new ArrayList<>();
    private final List<Short> priorities = new ArrayList<>();
    private final List<@Nullable String> kinds = new ArrayList<>();
    private final List<String> since = new ArrayList<>();
    private final List<String> sinceIds = new ArrayList<>();

    /** Where a branch begins. */
    @FunctionalInterface
    interface Beginning {
        Place of(ClaimRequest.Source source, Priority priority, @Nullable String kind);
    }

    private final Beginning beginning;

    /**
     * @param wantedKinds a branch for each; none for branches of all kinds
     */
    Branches(List<ClaimRequest.Source> sources, List<String> wantedKinds, Beginning beginning) {
        this.beginning = beginning;
        for (ClaimRequest.Source source : sources) {
            for (Priority priority : Priority.values()) {
                if (wantedKinds.isEmpty()) {
                    add(source, priority, null);
                } else {
                    wantedKinds.forEach(kind -> add(source, priority, kind));
                }
            }
        }
    }

    private void add(ClaimRequest.Source source, Priority priority, @Nullable String kind) {
        profiles.add(source.runtimeProfile());
        queues.add(source.queue());
        priorities.add(priority.code());
        kinds.add(kind);
        Place place = beginning.of(source, priority, kind);
        since.add(place.text());
        sinceIds.add(place.id());
    }

    /** The values of these branches. */
    Binds bound() {
        return new Binds()
                .with(PROFILES, profiles.toArray(String[]::new))
                .with(QUEUES, queues.toArray(String[]::new))
                .with(PRIORITIES, priorities.toArray(Short[]::new))
                .with(KINDS, kinds.toArray(String[]::new))
                .with(SINCES, since.toArray(String[]::new))
                .with(SINCE_IDS, sinceIds.toArray(String[]::new));
    }

    /** In a {@link Shape}: the branches whose queues and kinds are not paused, and for each what this table finds for it. */
    static Table<? extends Record> crossJoin(TableLike<?> lateral) {
        Field<String> queue = element(QUEUES);
        Field<String> kind = element(KINDS);
        return DSL.select(
                        element(PROFILES).as(PROFILE.getName()),
                        queue.as(QUEUE.getName()),
                        DSL.field(DSL.name("branches", "priority"), SQLDataType.SMALLINT)
                                .as(PRIORITY.getName()),
                        kind.as(KIND.getName()),
                        element(SINCES).cast(SINCE.getDataType()).as(SINCE.getName()),
                        element(SINCE_IDS).as(SINCE_ID.getName()))
                .from(DSL.unnest(PRIORITIES).withOrdinality().as("branches", "priority", "number"))
                .where(Pauses.neither(queue, kind))
                .asTable("branch")
                .crossJoin(DSL.lateral(lateral));
    }

    private static Field<String> element(Param<String[]> array) {
        return DSL.arrayGet(SentArray.once(array), NUMBER);
    }

    private static Param<String[]> texts(String name) {
        return DSL.param(name, SQLDataType.CLOB.array());
    }
}
