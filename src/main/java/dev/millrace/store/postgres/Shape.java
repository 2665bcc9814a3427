package dev.millrace.store.postgres;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.ResultQuery;
import org.jooq.VisitContext;
import org.jooq.VisitListener;
import org.jooq.impl.DSL;

/**
 * A statement that is composed once, rendered once for each schema, and executed with ever other values. jOOQ renders a
 * statement anew for each execution, which costs more than all else that this process does for a short one; a claim, a
 * beat, a submission are of few shapes.
 *
 * <p>What differs between executions are its parameters, which have names ({@link Binds}); all else is inlined: a value that
 * was bound without a name would be that of the first caller for ever, and is refused. Each parameter is rendered and bound
 * by jOOQ as it would be within the statement, so its type is sent and converted in the same way (arrays by {@link ArrayText}). But the statement is composed
 * while its parameters have no value, and must not be one that jOOQ renders otherwise for null.
 *
 * <p>Immutable, and safe for use by many threads.
 */
final class Shape {
    private final Function<DSLContext, ? extends Query> composed;
    private final List<Field<?>> returned;

    /**
     * @param returned what the statement returns for each row; there has to be something, see {@link PlainSql#rows}
     * @param composed composes the statement; asked once for each schema
     */
    Shape(Collection<? extends Field<?>> returned, Function<DSLContext, ? extends Query> composed) {
        if (returned.isEmpty()) {
            throw new IllegalArgumentException("The statement has to return something");
        }
        this.composed = composed;
        this.returned = List.copyOf(returned);
    }

    /** Executes it, for the rows that it returns. */
    Result<Record> fetch(DSLContext dsl, Binds binds) {
        return rows(dsl, binds).fetch();
    }

    /** To be executed, or looked at. */
    ResultQuery<Record> rows(DSLContext dsl, Binds binds) {
        Text text = text(dsl);
        return PlainSql.rows(dsl, text.pieces, text.parameters(binds)).coerce(returned);
    }

    /** The statement as jOOQ has it, its parameters without values. */
    Query compose(DSLContext dsl) {
        return composed.apply(dsl);
    }

    private Text text(DSLContext dsl) {
        return Rendering.of(dsl.configuration()).text(this);
    }

    /** Renders it, for {@link Rendering} to keep. */
    Text render(Configuration configuration) {
        DSLContext dsl = DSL.using(configuration);
        Holes holes = new Holes(dsl);
        String sql = DSL.using(configuration.deriveAppending(holes)).render(compose(dsl));
        List<String> pieces = new ArrayList<>();
        int begin = 0;
        for (Hole hole : holes.found) {
            if (hole.begin < begin || !sql.startsWith(hole.sql, hole.begin)) {
                throw new IllegalStateException("The parameter \"" + hole.slot.parameter.getParamName()
                        + "\" is rendered as " + hole.sql + " by itself, but not where it was in " + sql
                        + ". This release of jOOQ can't be used with this one of the library; please report it.");
            }
            pieces.add(sql.substring(begin, hole.begin));
            begin = hole.begin + hole.sql.length();
        }
        pieces.add(sql.substring(begin));
        return new Text(
                List.copyOf(pieces), holes.found.stream().map(Hole::slot).toList());
    }

    /** A statement's text around its parameters. */
    record Text(List<String> pieces, List<Slot<?>> slots) {
        private List<Param<?>> parameters(Binds binds) {
            List<Param<?>> parameters = new ArrayList<>(slots.size());
            for (Slot<?> slot : slots) {
                parameters.add(slot.with(binds));
            }
            return parameters;
        }
    }

    /** A parameter, and the types that its values have: jOOQ would make one of each anew for every value. */
    private record Slot<T>(Param<T> parameter, DataType<T> notNull, DataType<T> ofNull) {
        /** @param sql what it is rendered as */
        static <T> Slot<T> of(Param<T> parameter, String sql) {
            DataType<T> type = ArrayText.of(parameter.getDataType(), sql);
            return new Slot<>(parameter, type.notNull(), type.null_());
        }

        Param<T> with(Binds binds) {
            T value = binds.get(parameter);
            return DSL.val(value, value == null ? ofNull : notNull);
        }
    }

    /**
     * Where a parameter is in the text.
     *
     * @param sql what it is rendered as
     */
    private record Hole(Slot<?> slot, int begin, String sql) {}

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
                if (parameter.getParamName() == null) {
                    throw new IllegalStateException("The value " + parameter.getValue()
                            + " has to be inlined, or to be a parameter with a name: " + sql);
                }
                String alone = dsl.render(parameter);
                found.add(new Hole(Slot.of(parameter, alone), sql.length() - alone.length(), alone));
            }
        }
    }
}
