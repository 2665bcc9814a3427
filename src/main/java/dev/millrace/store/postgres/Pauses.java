package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;

import dev.millrace.store.Controls.Scope;
import java.util.Arrays;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Queues and kinds whose jobs nobody may claim: rows of the table of controls, whose names begin with a prefix for each.
 *
 * <p>Like the hold they are checked inside of the statements that claim. All that are set are read at once, as an array that
 * refers to no other table, so PostgreSQL does it once for a statement, however many rows or branches look into it.
 */
final class Pauses {
    /** What all names begin with, and, bytewise, the end of these. */
    private static final String BEGIN = "paused.";

    private static final String END = "paused/";

    private static final Condition ANY = CONTROLS.NAME.ge(DSL.inline(BEGIN)).and(CONTROLS.NAME.lt(DSL.inline(END)));

    private static final Field<String[]> SET =
            DSL.array(DSL.select(CONTROLS.NAME).from(CONTROLS).where(ANY));

    private Pauses() {}

    /** The rows of pauses. */
    static Condition rows() {
        return ANY;
    }

    /** The name of its row. */
    static String name(Scope scope) {
        return prefix(scope.type()) + scope.name();
    }

    /** What a row of that name pauses; null if nothing that this release knows of. */
    static @Nullable Scope scope(String name) {
        return Arrays.stream(Scope.Type.values())
                .filter(type -> name.startsWith(prefix(type)))
                .map(type -> new Scope(type, name.substring(prefix(type).length())))
                .findFirst()
                .orElse(null);
    }

    private static String prefix(Scope.Type type) {
        return BEGIN + (type == Scope.Type.QUEUE ? "queue:" : "kind:");
    }

    /** Neither is paused. A kind that is null, as of a branch for all kinds, is not. */
    static Condition neither(Field<String> queue, Field<String> kind) {
        return DSL.not(DSL.arrayOverlap(DSL.array(row(Scope.Type.QUEUE, queue), row(Scope.Type.KIND, kind)), SET));
    }

    /** The kind is not paused. */
    static Condition notKind(Field<String> kind) {
        return row(Scope.Type.KIND, kind).ne(DSL.all(SET));
    }

    private static Field<String> row(Scope.Type type, Field<String> name) {
        return DSL.inline(prefix(type)).concat(name);
    }
}
