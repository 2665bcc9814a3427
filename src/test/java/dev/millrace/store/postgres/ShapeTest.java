package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.job.NewJob;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.lang.reflect.Array;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Query;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.Test;

class ShapeTest {
    private static final Param<String> WORKER = DSL.param("worker", SQLDataType.CLOB);
    private static final Param<Duration> DURATION = DSL.param("duration", DbTime.DURATION);
    private static final Param<UUID[]> TOKENS = DSL.param("tokens", SQLDataType.UUID.array());

    private final AtomicInteger composed = new AtomicInteger();
    private final Shape shape = new Shape(List.of(EXECUTION_JOBS.KIND), dsl -> {
        composed.incrementAndGet();
        return statement(dsl, WORKER, DURATION, TOKENS);
    });

    private static Query statement(
            DSLContext dsl, Param<String> worker, Param<Duration> duration, Param<UUID[]> tokens) {
        return dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.CLAIMED_BY, worker)
                .set(EXECUTION_JOBS.CURRENT_PHASE, DSL.inline("it's ? {0} :worker"))
                .set(EXECUTION_JOBS.EXPIRES_AT, DbTime.STATEMENT.add(duration))
                .where(EXECUTION_JOBS.CLAIM_TOKEN.eq(DSL.any(tokens)))
                .and(EXECUTION_JOBS.CLAIMED_BY.isDistinctFrom(worker))
                .and(EXECUTION_JOBS.KIND.ne(DSL.inline("?")))
                .returning(EXECUTION_JOBS.KIND);
    }

    private static DSLContext schema(String name) {
        return DSL.using(new Rendering(name).configuration());
    }

    @Test
    void text_andValues_areThoseOfTheStatement_asOftenAsItIsExecuted() {
        DSLContext dsl = schema("a schema");
        for (String worker : new String[] {"one", "two's", null}) {
            UUID[] tokens = {UUID.randomUUID(), UUID.randomUUID()};
            Duration duration = Duration.ofMillis(1_500);
            Query whole = statement(
                    dsl,
                    DSL.val(worker, WORKER.getDataType()),
                    DSL.val(duration, DURATION.getDataType()),
                    DSL.val(tokens, TOKENS.getDataType()));
            var part = shape.rows(
                    dsl,
                    new Binds().with(WORKER, worker).with(DURATION, duration).with(TOKENS, tokens));
            assertThat(dsl.render(part)).isEqualTo(dsl.render(whole));
            assertThat(dsl.extractBindValues(part)).isEqualTo(dsl.extractBindValues(whole));
        }
        assertThat(composed).hasValue(1);
    }

    /** With values, and with null where there may be none. */
    @Test
    void textsAndValues_ofAllShapes_areThoseOfTheirStatements() {
        DSLContext dsl = schema("millrace");
        List<Shape> shapes = new ArrayList<>(List.of(
                PostgresWorkSource.START,
                PostgresWorkSource.SUCCEED,
                Heartbeat.BEAT,
                Heartbeat.START,
                Submission.REMOTE,
                Submission.DUE,
                Submission.DUE_AND_SIGNALLED,
                Submission.DELAYED));
        ClaimShape.SHAPES.values().forEach(shapes::addAll);
        assertThat(shapes).hasSize(41);
        shapes.forEach(one -> Rendering.of(dsl.configuration()).text(one)); // as ever, while parameters have no values
        for (Shape one : shapes) {
            assertSame(dsl, one, Set.of());
            assertSame(dsl, one, Set.of("tenant_id"));
        }
    }

    private static void assertSame(DSLContext dsl, Shape shape, Set<String> nulls) {
        Query whole = shape.compose(dsl);
        Map<Field<?>, Object> values = new HashMap<>();
        whole.getParams().forEach((name, parameter) -> {
            if (!parameter.isInline()) {
                values.put(DSL.field(DSL.name(name)), nulls.contains(name) ? null : sample(parameter));
            }
        });
        try {
            values.forEach((field, value) -> whole.bind(field.getName(), value));
            var part = shape.rows(dsl, new Binds().withAll(values));
            assertThat(dsl.render(part)).isEqualTo(dsl.render(whole));
            assertThat(dsl.extractBindValues(part)).isEqualTo(dsl.extractBindValues(whole));
            assertThat(dsl.renderInlined(part)).isEqualTo(dsl.renderInlined(whole));
        } finally {
            values.keySet().forEach(field -> whole.bind(field.getName(), null)); // they are constants of the library
        }
    }

    private static Object sample(Param<?> parameter) {
        Class<?> type = parameter.getType();
        if (type.isArray()) {
            Object array = Array.newInstance(type.getComponentType(), 2);
            Array.set(array, 0, sample(type.getComponentType(), 1));
            Array.set(array, 1, sample(type.getComponentType(), 2));
            return array;
        }
        return sample(type, 3);
    }

    private static Object sample(Class<?> type, int number) {
        return Stream.<Object>of(
                        "it's ? :x {0} " + number,
                        (short) number,
                        number,
                        (long) number,
                        number % 2 == 0,
                        new UUID(1, number),
                        Duration.ofMillis(1_500 + number),
                        Instant.ofEpochSecond(1_000_000_000 + number),
                        Priority.HIGH,
                        List.of("a", "b" + number),
                        JsonText.of("{\"a\":\"?" + number + "\"}"))
                .filter(type::isInstance)
                .findFirst()
                .orElseThrow(() -> new AssertionError("There is no sample of a " + type));
    }

    @Test
    void statement_isRenderedForEachSchema() {
        Binds binds =
                new Binds().with(WORKER, "worker").with(DURATION, Duration.ZERO).with(TOKENS, new UUID[0]);
        DSLContext one = schema("one");
        DSLContext other = schema("other");
        for (int i = 0; i < 2; i++) {
            assertThat(one.render(shape.rows(one, binds))).contains("\"one\".").doesNotContain("\"other\".");
            assertThat(other.render(shape.rows(other, binds)))
                    .contains("\"other\".")
                    .doesNotContain("\"one\".");
        }
        assertThat(composed).hasValue(2);
    }

    /** It would be sent for every later caller as well. */
    @Test
    void valueWithoutAName_isRefused() {
        DSLContext dsl = schema("any");
        Shape withValue = new Shape(
                List.of(EXECUTION_JOBS.KIND),
                with -> with.update(EXECUTION_JOBS).set(EXECUTION_JOBS.CLAIMED_BY, "the first one"));
        assertThatThrownBy(() -> withValue.fetch(dsl, new Binds()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the first one");
    }

    @Test
    void statementThatReturnsNothing_isRefused() {
        assertThatThrownBy(() -> new Shape(List.of(), dsl -> dsl.deleteFrom(EXECUTION_JOBS)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void valueThatIsMissing_isRefused() {
        DSLContext dsl = schema("any");
        Binds binds = new Binds().with(WORKER, "worker").with(TOKENS, new UUID[0]);
        assertThatThrownBy(() -> shape.rows(dsl, binds))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("\"duration\"")
                .hasMessageContaining("worker");
    }

    @Test
    void limitsOfBranches_arePowersOfTwo_thatAreNotLess() {
        assertThat(IntStream.of(1, 2, 3, 4, 5, 512, 513, 1_000).map(limit -> 1 << ClaimShape.power(limit)))
                .containsExactly(1, 2, 4, 4, 8, 512, 1_024, 1_024);
    }

    @Test
    void columnsOfASubmission_areAllThatProjectTheRecord() {
        NewJob job = NewJob.of("id", "kind", JsonText.of("{}"));
        assertThat(new JobRows(new JobCodec())
                        .recordAndProjections(PostgresJobStore.wanted(job))
                        .keySet())
                .containsExactlyElementsOf(JobRows.PROJECTED);
    }
}
