package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.TraceContext;
import dev.millrace.store.Dimension;
import dev.millrace.store.JobQuery;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The trace context of a job: from whoever submits it to its handler. */
@MillraceDatabase
class TracingTest {
    private static final JobType<JsonText> TRACED = JobType.of("traced", JsonText.class);
    private static final JsonText NOTHING = JsonText.of("{}");
    private static final TraceContext CONTEXT =
            new TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "rojo=1,congo=2");
    private static final String OTHER = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00";

    private final TestDatabase database;
    private final Millrace plain;
    private final AtomicInteger asked = new AtomicInteger();
    private final Millrace traced;

    TracingTest(TestDatabase database) {
        this.database = database;
        this.plain = Millrace.on(database.dataSource());
        this.traced = plain.withTracing(() -> {
                    asked.incrementAndGet();
                    return CONTEXT;
                })
                .withSchema(database.schema())
                .withObjectMapper(new ObjectMapper());
    }

    private Job read(Job job) {
        return traced.get(job.id()).orElseThrow();
    }

    @Test
    void submit_givesTheCallersContext_whichListsAreFilteredBy() {
        Job job = traced.submit(TRACED, NOTHING);
        assertThat(read(job).audit().trace()).contains(CONTEXT);
        assertThat(read(job).audit().traceContext()).isEqualTo(CONTEXT.traceparent());
        JobQuery ofTrace = JobQuery.ALL.with(Dimension.TRACE, CONTEXT.traceparent());
        assertThat(traced.jobs().query(ofTrace).jobs()).contains(read(job));
    }

    @Test
    void submit_withAContextOfItsOwn_hasThat_andNothingOfTheCallers() {
        Job job = traced.submit(TRACED, NOTHING, SubmitOption.traceContext(OTHER));
        assertThat(read(job).audit().trace()).contains(TraceContext.of(OTHER));
        Job both = traced.submit(TRACED, NOTHING, SubmitOption.traceContext(OTHER, "rojo=3"));
        assertThat(read(both).audit().trace()).contains(new TraceContext(OTHER, "rojo=3"));
    }

    @Test
    void submitAll_asksOnce() {
        List<Job> jobs = traced.submitAll(TRACED, List.of(NOTHING, NOTHING, NOTHING));
        assertThat(asked).hasValue(1);
        assertThat(jobs)
                .hasSize(3)
                .allSatisfy(job -> assertThat(read(job).audit().trace()).contains(CONTEXT));
    }

    @Test
    void submit_inACallersTransaction_givesTheContext() throws Exception {
        Job job;
        try (Connection connection = database.unpooledDataSource().getConnection()) {
            connection.setAutoCommit(false);
            job = traced.in(connection).submit(TRACED, NOTHING);
            connection.commit();
        }
        assertThat(read(job).audit().trace()).contains(CONTEXT);
    }

    @Test
    void submit_whileTheSourceFailsOrHasNone_givesNone() {
        Millrace failing = traced.withTracing(() -> {
            throw new NoClassDefFoundError("on purpose");
        });
        assertThat(failing.submit(TRACED, NOTHING).audit().trace()).isEmpty();
        assertThat(traced.withTracing(() -> null)
                        .submit(TRACED, NOTHING)
                        .audit()
                        .trace())
                .isEmpty();
    }

    @Test
    void handler_seesTheContext() throws Exception {
        JobType<JsonText> seen = JobType.of("seen", JsonText.class);
        List<TraceContext> contexts = new CopyOnWriteArrayList<>();
        Job job = traced.submit(seen, NOTHING);
        try (var worker = traced.worker()
                .handle(seen, (payload, context) -> context.traceContext().ifPresent(contexts::add))
                .start()) {
            traced.await(job, Duration.ofSeconds(60));
        }
        assertThat(contexts).containsExactly(CONTEXT);
    }
}
