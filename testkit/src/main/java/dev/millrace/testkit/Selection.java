package dev.millrace.testkit;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import java.util.Collection;
import java.util.List;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * Which jobs a kit sees. Those from before a mark are known by their ids rather than by a time: times are moved when time
 * passes, and a job whose transaction commits late is one that came after the mark.
 *
 * @param queues of which queues; empty for all
 * @param profiles of which profiles; empty for all
 * @param before the ids of those that were there before the mark
 */
record Selection(List<String> queues, List<String> profiles, List<String> before) {
    static final Selection ALL = new Selection(List.of(), List.of(), List.of());

    Selection {
        queues = List.copyOf(queues);
        profiles = List.copyOf(profiles);
        before = List.copyOf(before);
    }

    Selection ofQueues(String... names) {
        return new Selection(List.of(names), profiles, before);
    }

    Selection ofProfiles(String... names) {
        return new Selection(queues, List.of(names), before);
    }

    Selection since(DSLContext dsl) {
        return new Selection(
                queues,
                profiles,
                dsl.select(EXECUTION_JOBS.OPERATION_ID).from(EXECUTION_JOBS).fetch(EXECUTION_JOBS.OPERATION_ID));
    }

    boolean isMarked() {
        return !before.isEmpty();
    }

    Condition condition() {
        return ofQueuesAndProfiles().and(isNone(EXECUTION_JOBS.OPERATION_ID, before));
    }

    Condition ofQueuesAndProfiles() {
        Condition condition = DSL.noCondition();
        if (!queues.isEmpty()) {
            condition = condition.and(EXECUTION_JOBS.QUEUE.in(queues));
        }
        if (!profiles.isEmpty()) {
            condition = condition.and(EXECUTION_JOBS.RUNTIME_PROFILE.in(profiles));
        }
        return condition;
    }

    /** As one array: there may be more of them than bind values. */
    static Condition isNone(Field<String> id, Collection<String> ids) {
        if (ids.isEmpty()) {
            return DSL.noCondition();
        }
        return id.ne(DSL.all(DSL.val(ids.toArray(String[]::new), SQLDataType.CLOB.array())));
    }

    /** What is seen, to follow "jobs" in a sentence. */
    String describe() {
        StringBuilder text = new StringBuilder();
        if (!queues.isEmpty()) {
            text.append(" of queue ").append(String.join(", ", queues));
        }
        if (!profiles.isEmpty()) {
            text.append(" of profile ").append(String.join(", ", profiles));
        }
        return text.toString();
    }
}
