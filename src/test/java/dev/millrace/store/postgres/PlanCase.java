package dev.millrace.store.postgres;

import java.util.function.Function;

/**
 * A call whose plans are looked at.
 *
 * @param operation the operation that it is
 * @param name which case of it
 * @param limit how many rows it may sort without a lookup key
 * @param mark how many buffers all its statements together may read at most, whatever the golden file says
 * @param markBefore17 the same on PostgreSQL 15 and 16
 * @param readsAll whether a sequential scan is right
 * @param preparation makes what is to be there, in the same transaction, and returns the call
 */
record PlanCase(
        Operation operation,
        String name,
        int limit,
        long mark,
        long markBefore17,
        boolean readsAll,
        Function<PostgresStore, Runnable> preparation) {
    static PlanCase of(Operation operation, String name, Function<PostgresStore, Runnable> preparation) {
        return new PlanCase(operation, name, 0, Long.MAX_VALUE, Long.MAX_VALUE, false, preparation);
    }

    /** Sorts as many rows as it returns at most. */
    PlanCase sorting(int rows) {
        return new PlanCase(operation, name, rows, mark, markBefore17, readsAll, preparation);
    }

    PlanCase atMost(long buffers) {
        return new PlanCase(operation, name, limit, buffers, buffers, readsAll, preparation);
    }

    /** For what older servers can't do as cheaply; the case says why. Afterwards, since {@link #atMost} is for all. */
    PlanCase before17AtMost(long buffers) {
        return new PlanCase(operation, name, limit, mark, buffers, readsAll, preparation);
    }

    long mark(int serverVersion) {
        return serverVersion < 17 ? markBefore17 : mark;
    }

    PlanCase readingAll() {
        return new PlanCase(operation, name, limit, mark, markBefore17, true, preparation);
    }

    @Override
    public String toString() {
        return operation + ": " + name;
    }
}
