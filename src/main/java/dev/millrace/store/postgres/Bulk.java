package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.store.StoreException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** What operations on many jobs have in common: how they are cut into statements, and how much is read at once. */
final class Bulk {
    /** How much of records one statement carries, unless a single one is larger. */
    static final long MAX_BYTES = 8L * 1024 * 1024;

    static final int MAX_SUPPRESSED = 20;

    /** The order of the column, which is that of bytes in UTF-8 and so of code points; Java's is that of UTF-16. */
    static final Comparator<String> BY_ID = Bulk::compare;

    private static final Field<Long> BYTES = DSL.field(DSL.name("sized", "bytes"), SQLDataType.BIGINT);
    private static final Field<Long> BYTES_SO_FAR = DSL.field(DSL.name("sized", "bytes_so_far"), SQLDataType.BIGINT);

    private Bulk() {}

    private static int compare(String a, String b) {
        int length = Math.min(a.length(), b.length());
        for (int i = 0; i < length; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean bothOrNone = Character.isSurrogate(x) == Character.isSurrogate(y);
                return bothOrNone ? x - y : Character.isSurrogate(x) ? 1 : -1;
            }
        }
        return a.length() - b.length();
    }

    /** The values cut into lists of at most {@code limit}, and of at most {@link #MAX_BYTES} unless one alone is larger. */
    static <T> List<List<T>> chunks(Collection<T> values, int limit, ToLongFunction<T> size) {
        List<List<T>> chunks = new ArrayList<>();
        List<T> chunk = new ArrayList<>();
        long bytes = 0;
        for (T value : values) {
            long more = size.applyAsLong(value);
            if (!chunk.isEmpty() && (chunk.size() == limit || bytes + more > MAX_BYTES)) {
                chunks.add(chunk);
                chunk = new ArrayList<>();
                bytes = 0;
            }
            chunk.add(value);
            bytes += more;
        }
        if (!chunk.isEmpty()) {
            chunks.add(chunk);
        }
        return chunks;
    }

    /**
     * Rows as they were read.
     *
     * @param rows by id, in the order of ids
     * @param upTo the last id whose row would have been read if there is one; what is behind it has to be read again
     */
    record Reading(Map<String, Record> rows, String upTo) {
        boolean covers(String id) {
            return BY_ID.compare(id, upTo) <= 0;
        }
    }

    /**
     * Reads the rows of these ids, in their order, until their records are {@link #MAX_BYTES} long together; the first one
     * in any case. The server looks at all of them for that, as JSON has no length without its text; the bound is on what is
     * sent, and held here in memory.
     */
    static Reading read(DSLContext dsl, List<String> sortedIds, List<Field<?>> fields) {
        Field<Integer> bytes = DSL.octetLength(EXECUTION_JOBS.RECORD.cast(SQLDataType.CLOB));
        Table<?> sized = DSL.select(fields)
                .select(DbTime.CLOCK.as("clock"))
                .select(bytes.cast(SQLDataType.BIGINT).as(BYTES.getUnqualifiedName()))
                .select(DSL.sum(bytes)
                        .over()
                        .orderBy(EXECUTION_JOBS.OPERATION_ID)
                        .cast(SQLDataType.BIGINT)
                        .as(BYTES_SO_FAR.getUnqualifiedName()))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(DSL.any(ids(sortedIds))))
                .asTable(DSL.name("sized"));
        TreeMap<String, Record> rows = new TreeMap<>(BY_ID);
        dsl.select(sized.fields())
                .from(sized)
                .where(BYTES_SO_FAR.minus(BYTES).lt(MAX_BYTES))
                .forEach(row -> rows.put(row.get(EXECUTION_JOBS.OPERATION_ID), row));
        boolean full = !rows.isEmpty() && rows.lastEntry().getValue().get(BYTES_SO_FAR) >= MAX_BYTES;
        return new Reading(rows, full ? rows.lastKey() : sortedIds.get(sortedIds.size() - 1));
    }

    /**
     * In a caller's transaction, which keeps its locks: locks these rows in the order of their ids before anything is done
     * about any of them. What is done after that comes to some of them sooner than to others, by what they are, and two
     * transactions that took their locks only then would deadlock. Nothing in a transaction of ours, which holds the locks
     * of one statement, and leaves out what others have locked.
     *
     * @return the ids of the rows that are locked now; all of them in a transaction of ours
     */
    static Collection<String> lockInOrder(DSLContext dsl, List<String> sortedIds, Condition... conditions) {
        if (Session.isOwn(dsl)) {
            return sortedIds;
        }
        return dsl.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(DSL.any(ids(sortedIds))))
                .and(DSL.and(conditions))
                .orderBy(EXECUTION_JOBS.OPERATION_ID)
                .forNoKeyUpdate()
                .fetchSet(EXECUTION_JOBS.OPERATION_ID);
    }

    static Field<String[]> ids(Collection<String> ids) {
        return DSL.val(ids.toArray(String[]::new), SQLDataType.CLOB.array());
    }

    /** The ids without repetitions, in the order of the column. */
    static List<String> sorted(Collection<String> ids) {
        return ids.stream().distinct().sorted(BY_ID).toList();
    }

    /** Values in the order of the ids that they have here. */
    static <T> Collection<T> byId(Map<String, T> values) {
        Map<String, T> sorted = new TreeMap<>(BY_ID);
        sorted.putAll(values);
        return sorted.values();
    }

    /** Throws the first of them, if there are any, with the others in it: when all that could be done has been done. */
    static void throwFirst(List<? extends StoreException> failures) {
        if (!failures.isEmpty()) {
            StoreException first = failures.get(0);
            failures.stream().skip(1).limit(MAX_SUPPRESSED).forEach(first::addSuppressed);
            throw first;
        }
    }
}
