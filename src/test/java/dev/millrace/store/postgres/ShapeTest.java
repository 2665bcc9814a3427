package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.job.NewJob;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jooq.DSLContext;
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
    private final Shape shape = new Shape(dsl -> {
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
                .and(EXECUTION_JOBS.KIND.ne(DSL.inline("?")));
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
        Shape withValue =
                new Shape(with -> with.update(EXECUTION_JOBS).set(EXECUTION_JOBS.CLAIMED_BY, "the first one"));
        assertThatThrownBy(() -> withValue.execute(dsl, new Binds()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the first one");
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
