package dev.millrace.store.postgres;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jooq.Configuration;
import org.jooq.Context;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Query;
import org.jooq.QueryPart;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.VisitContext;
import org.jooq.VisitListener;
import org.jooq.impl.CustomQueryPart;
import org.jooq.impl.DSL;

/**
 * A statement that is composed once, rendered once for each schema, and executed with ever other values. jOOQ renders a
 * statement anew for each execution, which costs more than all else that this process does for a short one; a claim, a
 * beat, a submission are of few shapes.
 *
 * <p>What differs between executions are its parameters, which have names; all others stay as they were composed. Each is
 * rendered and bound by jOOQ as it would be within the statement, so its type is sent and converted in the same way.
 * Immutable, and safe for use by many threads.
 */
final class Shape {
    private final Function<DSLContext, ? extends Query> composed;
    private final List<Field<?>> returned;

    /** @param composed composes the statement; asked once for each schema */
    Shape(Function<DSLContext, ? extends Query> composed) {
        this(List.of(), composed);
    }

    /**
     * @param returned what the statement returns for each row
     * @param composed composes the statement; asked once for each schema
     */
    Shape(Collection<? extends Field<?>> returned, Function<DSLContext, ? extends Query> composed) {
        this.composed = composed;
        this.returned = List.copyOf(returned);
    }

    /** Executes it, for the rows that it returns. */
    Result<Record> fetch(DSLContext dsl, Binds binds) {
        return PlainSql.rows(dsl, filled(dsl, binds)).coerce(returned).fetch();
    }

    /** Executes it, for the number of rows that it changes. */
    int execute(DSLContext dsl, Binds binds) {
        return PlainSql.changes(dsl, filled(dsl, binds)).execute();
    }

    /** The statement with these values. */
    QueryPart filled(DSLContext dsl, Binds binds) {
        return Rendering.of(dsl.configuration())
                .text(this, () -> render(dsl.configuration()))
                .with(binds);
    }

    private Text render(Configuration configuration) {
        DSLContext dsl = DSL.using(configuration);
        Holes holes = new Holes(dsl);
        String sql = DSL.using(configuration.deriveAppending(holes)).render(composed.apply(dsl));
        List<String> pieces = new ArrayList<>();
        int begin = 0;
        for (Hole hole : holes.found) {
            pieces.add(sql.substring(begin, hole.begin));
            begin = hole.end;
        }
        pieces.add(sql.substring(begin));
        return new Text(
                List.copyOf(pieces), holes.found.stream().map(Hole::slot).toList());
    }

    /** A statement's text around its parameters. */
    record Text(List<String> pieces, List<Slot<?>> slots) {
        private QueryPart with(Binds binds) {
            List<Param<?>> values = new ArrayList<>(slots.size());
            for (Slot<?> slot : slots) {
                values.add(slot.with(binds));
            }
            return CustomQueryPart.of(context -> render(context, values));
        }

        private void render(Context<?> context, List<Param<?>> values) {
            context.sql(pieces.get(0));
            for (int i = 0; i < values.size(); i++) {
                context.visit(values.get(i)).sql(pieces.get(i + 1));
            }
        }
    }

    /** A parameter, and the types that its values have: jOOQ would make one of each anew for every value. */
    private record Slot<T>(Param<T> parameter, DataType<T> notNull, DataType<T> ofNull) {
        static <T> Slot<T> of(Param<T> parameter) {
            DataType<T> type = parameter.getDataType();
            return new Slot<>(parameter, type.notNull(), type.null_());
        }

        /** The parameter with its value; one that has no name keeps that which it was composed with. */
        Param<T> with(Binds binds) {
            String name = parameter.getParamName();
            if (name == null) {
                return parameter;
            }
            T value = parameter.getType().cast(binds.get(name));
            return DSL.val(value, value == null ? ofNull : notNull);
        }
    }

    /** Where a parameter is in the text. */
    private record Hole(Slot<?> slot, int begin, int end) {}

    /** Listens to how a statement is rendered. */
    private static final class Holes implements VisitListener {
        private final DSLContext dsl;
        private final List<Hole> found = new ArrayList<>();

        Holes(DSLContext dsl) {
            this.dsl = dsl;
        }

        @Override
        public void visitEnd(VisitContext context) {
            if (context.queryPart() instanceof Param<?> parameter && !parameter.isInline()) {
                String sql = context.context().render();
                String alone = dsl.render(parameter);
                if (!sql.endsWith(alone)) {
                    throw new IllegalStateException(
                            "A parameter is rendered as " + alone + " by itself, but not so in " + sql
                                    + ". This release of jOOQ can't be used with this one of the library; please report it.");
                }
                found.add(new Hole(Slot.of(parameter), sql.length() - alone.length(), sql.length()));
            }
        }
    }
}
