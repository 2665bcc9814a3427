package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.tenant;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.AwaitTimeoutException;
import dev.millrace.JobNotFoundException;
import dev.millrace.Millrace;
import dev.millrace.examples.Document;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.AttemptState;
import dev.millrace.job.Job;
import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.store.Count;
import dev.millrace.store.JobCounts;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import dev.millrace.store.LogPage;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JobStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The chapter about waiting for jobs, and reading them. */
@MillraceTest
class ReadingGuideTest {
    private final Millrace millrace;
    private final TestKit kit;

    ReadingGuideTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
    }

    @Test
    void job_isReadByItsId() {
        kit.handle(MAIL, (mail, context) -> {
                    context.progress(50, "half of it");
                    // tag::get[]
                    Job job = millrace.get("mail-1").orElseThrow();
                    AttemptState state = job.state();
                    assertThat(state.status()).isEqualTo(JobStatus.RUNNING);
                    assertThat(state.attemptCount()).isEqualTo(1);
                    assertThat(state.percentComplete()).isEqualTo(50);
                    assertThat(state.currentPhase()).isEqualTo("half of it");
                    // end::get[]
                })
                .run(MAIL, new Mail("anna@example.com", "Welcome"), id("mail-1"))
                .assertSucceeded();
        assertThat(millrace.get("mail-1").orElseThrow().state().percentComplete())
                .isEqualTo(100);
        assertThat(millrace.get("mail-2")).isEmpty();
    }

    @Test
    void waiting_thatIsInVain_saysWhereTheJobStands() {
        millrace.submit(MAIL, new Mail("anna@example.com", "Your order"), id("order-17"));
        // tag::timeout[]
        AwaitTimeoutException timeout = catchThrowableOfType(
                AwaitTimeoutException.class, () -> millrace.await("order-17", Duration.ofMillis(100)));
        assertThat(timeout.job())
                .hasValueSatisfying(job -> assertThat(job.status()).isEqualTo(JobStatus.QUEUED));
        // end::timeout[]
        String shown = Document.of(Path.of("../docs/guide.md")).blocks("text").get(0);
        assertThat(shown.strip().replace('\n', ' ')).isEqualTo(timeout.getMessage());
        assertThat(catchThrowableOfType(
                        JobNotFoundException.class, () -> millrace.await("nobody", Duration.ofMillis(100))))
                .isNotNull();
    }

    @Test
    void list_isReadInPages_newestFirst() {
        List<Job> submitted = LongStream.rangeClosed(1, 5)
                .mapToObj(order -> millrace.submit(INVOICE, new Invoice(order), tenant("acme")))
                .toList();
        millrace.submit(INVOICE, new Invoice(6), tenant("other"));
        List<Job> found = new ArrayList<>();
        // tag::query[]
        JobQuery query =
                JobQuery.ALL.withKind("invoice").withTenant("acme").active().withLimit(2);
        JobPage page = millrace.jobs().query(query);
        found.addAll(page.jobs());
        while (page.next().isPresent()) {
            page = millrace.jobs().query(query.after(page.next().get()));
            found.addAll(page.jobs());
        }
        // end::query[]
        List<String> oldestFirst = new ArrayList<>();
        found.forEach(job -> oldestFirst.add(0, job.id()));
        assertThat(oldestFirst)
                .containsExactlyElementsOf(submitted.stream().map(Job::id).toList());
    }

    @Test
    void counts_areExact_upToABound() {
        List<Mail> mails = LongStream.range(0, 20)
                .mapToObj(n -> new Mail("reader-" + n, "News"))
                .toList();
        millrace.submitAll(MAIL, mails);
        // tag::counts[]
        Map<JobStatus, Count> counts = millrace.counts().byStatus(10);
        assertThat(counts.get(JobStatus.QUEUED)).hasToString("over 10");
        assertThat(counts.get(JobStatus.FAILED)).hasToString("0");

        Map<Source, Duration> ages = millrace.counts().oldestWaiting();
        assertThat(ages).containsKey(new Source("managed", "default"));
        // end::counts[]
        assertThat(millrace.counts().waiting(new Source("managed", "default"), JobCounts.DEFAULT_UP_TO))
                .satisfies(count -> assertThat(count.exact()).isTrue());
    }

    @Test
    void log_isReadOn_fromWhereItWasReadTo() {
        TestKit running = kit.handle(MAIL, (mail, context) -> context.log("Sent " + mail.subject()));
        String jobId = running.run(MAIL, new Mail("anna@example.com", "Welcome"))
                .assertSucceeded()
                .job()
                .id();
        List<String> seen = new ArrayList<>();
        // tag::log[]
        LogPage first = millrace.logs().page(jobId, null, 100);
        first.lines().forEach(line -> seen.add(line.message()));
        LogPage next = millrace.logs().page(jobId, first.next(), 100); // what has come since
        // end::log[]
        assertThat(seen).containsExactly("Sent Welcome");
        assertThat(next.lines()).isEmpty();
    }
}
