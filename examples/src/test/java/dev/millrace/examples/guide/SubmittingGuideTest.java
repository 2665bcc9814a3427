package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.correlationId;
import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.maxDuration;
import static dev.millrace.SubmitOption.priority;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.references;
import static dev.millrace.SubmitOption.requestedBy;
import static dev.millrace.SubmitOption.retention;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.SubmitOption.tenant;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.Millrace;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobReferences;
import dev.millrace.job.JobType;
import dev.millrace.job.NewJob;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Creation;
import dev.millrace.store.Dimension;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.JobQuery;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The chapter about submitting, but for transactions. */
@MillraceTest
class SubmittingGuideTest {
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");

    private final Millrace millrace;
    private final TestKit kit;

    SubmittingGuideTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
    }

    private Job stored(Job job) {
        return millrace.get(job.id()).orElseThrow();
    }

    @Test
    void payload_asJson_reachesItsHandlerAsItIs() {
        List<String> received = new ArrayList<>();
        // tag::json[]
        JobType<JsonText> webhook = JobType.of("webhook", JsonText.class);
        Job job = millrace.submit(webhook, JsonText.of("{\"event\": \"paid\"}"));
        // end::json[]
        kit.handle(webhook, (json, context) -> received.add(json.text()))
                .run(job)
                .assertSucceeded();
        assertThat(received).containsExactly("{\"event\": \"paid\"}");
    }

    @Test
    void payload_thatIsNoObject_isRefused() {
        JobType<Integer> number = JobType.of("number", Integer.class);
        assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> millrace.submit(number, 7));
    }

    @Test
    void payload_withMoreMembersThanItsType_isRead() {
        record More(String to, String subject, String footer) {}
        List<Mail> received = new ArrayList<>();
        Job job = millrace.submit(JobType.of("mail", More.class), new More("anna@example.com", "Welcome", "Bye"));
        kit.handle(MAIL, (mail, context) -> received.add(mail)).run(job).assertSucceeded();
        assertThat(received).containsExactly(WELCOME);
    }

    @Test
    void options_areKeptWithTheJob() {
        // tag::options[]
        Job job = millrace.submit(
                MAIL,
                new Mail("anna@example.com", "Your order"),
                queue("mails"),
                priority(Priority.HIGH),
                delay(Duration.ofMinutes(5)),
                retry(RetryPolicy.exponential(5, Duration.ofSeconds(10), Duration.ofMinutes(30))),
                heartbeat(new HeartbeatPolicy(Duration.ofSeconds(5), Duration.ofSeconds(15))),
                maxDuration(Duration.ofMinutes(2)),
                retention(Duration.ofDays(30)),
                tenant("acme"),
                requestedBy("checkout"),
                correlationId("order-17"));
        // end::options[]
        kit.assertSubmitted(MAIL)
                .inQueue("mails")
                .withPriority(Priority.HIGH)
                .withDelay(Duration.ofMinutes(5))
                .once();
        assertThat(stored(job)).isEqualTo(job);
        assertThat(job.policies().retry().maxAttempts()).isEqualTo(5);
        assertThat(job.policies().heartbeat().timeout()).hasSeconds(15);
        assertThat(job.policies().maxDuration()).hasMinutes(2);
        assertThat(job.policies().retention()).hasDays(30);
        assertThat(job.audit().tenantId()).isEqualTo("acme");
        assertThat(job.audit().requestedBy()).isEqualTo("checkout");
        assertThat(job.audit().correlationId()).isEqualTo("order-17");
    }

    @Test
    void jobs_areClaimedByPriority_andThenByWhenTheyAreDue() {
        List<String> order = new ArrayList<>();
        TestKit running = kit.handle(MAIL, (mail, context) -> order.add(mail.subject()));
        millrace.submit(MAIL, new Mail("anna@example.com", "first"));
        millrace.submit(MAIL, new Mail("anna@example.com", "second"));
        millrace.submit(MAIL, new Mail("anna@example.com", "low"), priority(Priority.LOW));
        millrace.submit(MAIL, new Mail("anna@example.com", "critical"), priority(Priority.CRITICAL));
        running.runAllDue();
        assertThat(order).containsExactly("critical", "first", "second", "low");
    }

    @Test
    void repeatedId_isNoSecondJob_andOtherContentIsAConflict() {
        // tag::id[]
        Job job = millrace.submit(INVOICE, new Invoice(17), id("invoice-17"));
        Job again = millrace.submit(INVOICE, new Invoice(17), id("invoice-17"));
        assertThat(again).isEqualTo(job);

        assertThatExceptionOfType(JobConflictException.class)
                .isThrownBy(() -> millrace.submit(INVOICE, new Invoice(18), id("invoice-17")))
                .satisfies(conflict -> assertThat(conflict.differences()).containsExactly("parameters"));
        // end::id[]
        kit.assertSubmitted(INVOICE).once();
    }

    @Test
    void repeatedId_ofAJobThatHasEnded_runsNothing() {
        TestKit running = kit.handle(INVOICE, (invoice, context) -> {});
        running.run(millrace.submit(INVOICE, new Invoice(20), id("invoice-20"))).assertSucceeded();
        Job again = millrace.submit(INVOICE, new Invoice(20), id("invoice-20"));
        assertThat(again.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(running.runAllDue()).isEmpty();
    }

    @Test
    void repeatedId_withAnotherDelayTenantOrReferences_keepsTheFirst() {
        millrace.submit(INVOICE, new Invoice(21), id("invoice-21"), tenant("acme"));
        Job again = millrace.submit(
                INVOICE,
                new Invoice(21),
                id("invoice-21"),
                tenant("other"),
                delay(Duration.ofDays(1)),
                references(JobReferences.NONE.withServer("web-1")));
        assertThat(again.audit().tenantId()).isEqualTo("acme");
        assertThat(again.spec().references()).isEqualTo(JobReferences.NONE);
        assertThat(kit.handle(INVOICE, (invoice, context) -> {}).runAllDue())
                .singleElement()
                .satisfies(JobRun::assertSucceeded);
    }

    @Test
    void creation_saysWhetherTheJobWasThere() {
        // tag::created[]
        NewJob invoice = NewJob.of("invoice-19", INVOICE.kind(), JsonText.of("{\"order\": 19}"));
        Creation first = millrace.jobs().submit(invoice);
        Creation second = millrace.jobs().submit(invoice);
        assertThat(first.created()).isTrue();
        assertThat(second.created()).isFalse();
        // end::created[]
        assertThat(second.job()).isEqualTo(first.job());
    }

    @Test
    void jobOfADay_isSubmittedOnce_whoeverAsks() {
        // tag::daily[]
        LocalDate today = LocalDate.parse("2026-05-04");
        String subject = "Sales of " + today;
        millrace.submit(MAIL, new Mail("boss@example.com", subject), id("sales-" + today));
        // end::daily[]
        millrace.submit(MAIL, new Mail("boss@example.com", subject), id("sales-" + today));
        kit.assertSubmitted(MAIL).once();
    }

    @Test
    void pointInTime_isADelay() {
        Instant opening = millrace.clock().now().plus(Duration.ofHours(8));
        // tag::start-at[]
        Duration wait = Duration.between(millrace.clock().now(), opening);
        Mail mail = new Mail("anna@example.com", "We are open");
        Job job = millrace.submit(MAIL, mail, delay(wait.isNegative() ? Duration.ZERO : wait));
        // end::start-at[]
        TestKit running = kit.handle(MAIL, (any, context) -> {});
        assertThat(running.runAllDue()).isEmpty();
        running.timePasses(Duration.ofHours(8));
        running.run(job).assertSucceeded();
    }

    @Test
    void references_findTheJob_whateverTheirCase() {
        // tag::references[]
        JobReferences references = JobReferences.NONE
                .withResources(List.of("order:17", "customer:4"))
                .withRun("import-2026-05", "invoices");
        millrace.submit(INVOICE, new Invoice(17), references(references), correlationId("basket-9"));

        JobQuery ofTheOrder = JobQuery.ALL.with(Dimension.RESOURCE, "ORDER:17");
        List<Job> jobs = millrace.jobs().query(ofTheOrder).jobs();
        // end::references[]
        assertThat(jobs).singleElement().satisfies(job -> {
            assertThat(job.spec().references()).isEqualTo(references);
            assertThat(job.audit().correlationId()).isEqualTo("basket-9");
        });
        for (JobQuery query : List.of(
                JobQuery.ALL.with(Dimension.RESOURCE, " customer:4 "),
                JobQuery.ALL.with(Dimension.RUN, "import-2026-05"),
                JobQuery.ALL.with(Dimension.CORRELATION, "basket-9"))) {
            assertThat(millrace.jobs().query(query).jobs()).isEqualTo(jobs);
        }
    }

    @Test
    void manyJobs_areSubmittedTogether() {
        // tag::bulk[]
        List<Mail> mails = List.of(new Mail("anna@example.com", "News"), new Mail("ben@example.com", "News"));
        List<Job> jobs = millrace.submitAll(MAIL, mails, queue("newsletter"), priority(Priority.LOW));
        // end::bulk[]
        assertThat(jobs).hasSize(2);
        kit.assertSubmitted(MAIL)
                .inQueue("newsletter")
                .withPriority(Priority.LOW)
                .times(2);
    }

    @Test
    void manyJobs_withIds_canBeSubmittedAgain() {
        // tag::bulk-ids[]
        List<NewJob> invoices = List.of(30L, 31L, 32L).stream()
                .map(order -> NewJob.of("invoice-" + order, INVOICE.kind(), JsonText.of("{\"order\": " + order + "}")))
                .toList();
        millrace.jobs().submitAll(invoices);
        // end::bulk-ids[]
        assertThat(millrace.jobs().submitAll(invoices))
                .extracting(Creation::created)
                .containsOnly(false);
        kit.assertSubmitted(INVOICE).times(3);
    }
}
