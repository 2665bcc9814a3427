package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.correlationId;
import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.Millrace;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.Job;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Controls.Hold;
import dev.millrace.store.Controls.Pause;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Dimension;
import dev.millrace.store.HeldLease;
import dev.millrace.store.JobQuery;
import dev.millrace.store.LeaseLostException;
import dev.millrace.store.LeaseSettings;
import dev.millrace.store.RetryResult;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JobStatus;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The chapters about cancelling, running again, leases and switches. */
@MillraceTest
class ControlGuideTest {
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");

    private final Mailer mailer = new Mailer();
    private final Millrace millrace;
    private final TestKit kit;
    private final TestKit running;

    ControlGuideTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
        this.running = kit.handle(MAIL, (mail, context) -> mailer.send(mail)).handle(INVOICE, (invoice, context) -> {
            context.warn("The logo is missing");
            context.resultPackage("printed");
        });
    }

    private Job stored(String id) {
        return millrace.get(id).orElseThrow();
    }

    @Test
    void queuedJob_isCancelledAtOnce() {
        Job job = millrace.submit(MAIL, WELCOME);
        // tag::cancel[]
        CancelResult result = millrace.cancel(job.id(), "anna", "Sent by hand");
        assertThat(result).isEqualTo(CancelResult.CANCELLED);
        // end::cancel[]
        assertThat(stored(job.id()).status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(millrace.cancel(job.id(), "anna", null)).isEqualTo(CancelResult.ALREADY_ENDED);
        assertThat(millrace.cancel("nobody", "anna", null)).isEqualTo(CancelResult.NOT_FOUND);
    }

    @Test
    void manyJobs_areCancelledTogether() {
        millrace.submit(MAIL, WELCOME, correlationId("basket-9"));
        millrace.submit(INVOICE, new Invoice(17), correlationId("basket-9"));
        // tag::cancel-all[]
        JobQuery ofTheBasket =
                JobQuery.ALL.active().with(Dimension.CORRELATION, "basket-9").withLimit(200);
        List<String> ids =
                millrace.jobs().query(ofTheBasket).jobs().stream().map(Job::id).toList();
        Map<String, CancelResult> results = millrace.jobs().cancelAll(ids, "anna", "The basket was emptied");
        // end::cancel-all[]
        assertThat(results).hasSize(2).containsOnlyKeys(ids);
        assertThat(results.values()).containsOnly(CancelResult.CANCELLED);
    }

    @Test
    void endedJob_runsAgain_whenSomebodySaysSo() {
        mailer.broken(true);
        running.run(MAIL, WELCOME, id("mail-1"), retry(RetryPolicy.NEVER)).assertFailed();
        mailer.broken(false);
        // tag::retry[]
        RetryResult result = millrace.jobs().retry("mail-1", "anna", "The mail server is back");
        assertThat(result).isEqualTo(RetryResult.QUEUED);

        Job job = millrace.get("mail-1").orElseThrow();
        assertThat(job.audit().retried().by()).isEqualTo("anna");
        assertThat(job.outcome()).isEqualTo(JobOutcome.NONE); // no history, no error message any more
        // end::retry[]
        assertThat(millrace.jobs().retry("mail-1", "ben", null)).isEqualTo(RetryResult.NOT_ENDED);
        running.run(job).assertSucceeded();
        assertThat(mailer.sent()).containsExactly(WELCOME);
    }

    @Test
    void succeededJob_canRunAgain_andKeepsItsResultUntilThen() {
        running.run(INVOICE, new Invoice(17), id("invoice-17")).assertSucceeded();
        assertThat(millrace.jobs().retry("invoice-17", "anna", null)).isEqualTo(RetryResult.QUEUED);
        assertThat(stored("invoice-17").outcome().warnings()).isEmpty();
        assertThat(millrace.result("invoice-17", String.class)).contains("printed");
    }

    @Test
    void delayedJob_canBeDueNow() {
        Job job = millrace.submit(MAIL, WELCOME, delay(Duration.ofDays(1)));
        // tag::now[]
        boolean moved = millrace.queue().requeue(job.id(), Duration.ZERO);
        assertThat(moved).isTrue();
        // end::now[]
        running.run(job).assertSucceeded();
    }

    @Test
    void jobBetweenTwoAttempts_canBeDueNow() {
        mailer.broken(true);
        Job job = running.run(MAIL, WELCOME).assertQueuedAgain().job();
        mailer.broken(false);
        assertThat(running.runAllDue()).isEmpty();
        assertThat(millrace.queue().requeue(job.id(), Duration.ZERO)).isTrue();
        assertThat(running.runAllDue()).singleElement().satisfies(JobRun::assertSucceeded);
    }

    /** Work that must not be done by two at a time. */
    private static final class Import {
        private final AtomicInteger done = new AtomicInteger();
        private final CountDownLatch stopped = new CountDownLatch(1);

        List<String> files() {
            return List.of("a.csv", "b.csv");
        }

        void read(String file) {
            done.addAndGet(file.length());
        }

        void stop() {
            stopped.countDown();
        }
    }

    // tag::lease[]
    /** Imports, unless another process does so now. */
    boolean runImport(Import work) {
        Optional<HeldLease> held =
                HeldLease.acquire(millrace.leases(), "import", "shop-1", LeaseSettings.DEFAULT, lost -> work.stop());
        if (held.isEmpty()) {
            return false;
        }
        try (HeldLease lease = held.get()) {
            for (String file : work.files()) {
                lease.checkHeld();
                work.read(file);
            }
        }
        return true;
    }
    // end::lease[]

    @Test
    void lease_hasOneHolder_andIsGivenBack() {
        Import work = new Import();
        HeldLease other = HeldLease.acquire(
                        millrace.leases(), "import", "shop-2", LeaseSettings.DEFAULT, lost -> work.stop())
                .orElseThrow();
        assertThat(runImport(work)).isFalse();
        assertThat(millrace.leases().holder("import").orElseThrow().owner()).startsWith("shop-2");
        other.close();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(other::checkHeld);
        assertThat(runImport(work)).isTrue();
        assertThat(work.done).hasValue(10);
        assertThat(work.stopped.getCount()).isEqualTo(1);
    }

    @Test
    void write_underALease_isRefusedOnceTheLeaseIsGone() {
        Job job = millrace.submit(MAIL, WELCOME);
        HeldLease lease = HeldLease.acquire(millrace.leases(), "planner", "shop-1", LeaseSettings.DEFAULT, lost -> {})
                .orElseThrow();
        // tag::fenced[]
        Job urgent = job.withPriority(Priority.HIGH);
        boolean changed = millrace.jobs().compareAndSet(job, urgent, Duration.ZERO, lease.lease());
        assertThat(changed).isTrue();
        // end::fenced[]
        lease.close();
        Job now = stored(job.id());
        assertThat(now.priority()).isEqualTo(Priority.HIGH);
        assertThat(millrace.jobs().compareAndSet(now, now.withPriority(Priority.LOW), Duration.ZERO, lease.lease()))
                .isFalse();
    }

    @Test
    void pausedQueue_isLeftAlone_untilItIsResumed() {
        millrace.submit(MAIL, WELCOME, queue("mails"));
        // tag::pause[]
        millrace.controls().pause(Scope.queue("mails"), "anna", "The mail server is in maintenance");
        millrace.controls().pause(Scope.kind("invoice"), "anna", null);

        List<Pause> pauses = millrace.controls().pauses();
        assertThat(pauses).extracting(Pause::scope).containsExactly(Scope.queue("mails"), Scope.kind("invoice"));
        // end::pause[]
        assertThat(claimable()).isZero();
        // tag::resume[]
        millrace.controls().resume(Scope.queue("mails"), "anna");
        millrace.controls().resume(Scope.kind("invoice"), "anna");
        // end::resume[]
        assertThat(claimable()).isEqualTo(1);
    }

    @Test
    void hold_stopsEverything_untilItIsReleased() {
        millrace.submit(MAIL, WELCOME);
        // tag::hold[]
        Hold hold = millrace.controls().hold("anna", "A backup was restored");
        assertThat(millrace.controls().held()).contains(hold);
        // end::hold[]
        assertThat(claimable()).isZero();
        // tag::release[]
        millrace.controls().release("anna");
        // end::release[]
        assertThat(claimable()).isEqualTo(1);
    }

    /** How many jobs of this test can be claimed: which it has done then. */
    private int claimable() {
        return running.runAllDue().size();
    }

    @Test
    void pausedJobs_canStillBeSubmittedAndCancelled() {
        millrace.controls().pause(Scope.queue("later"), "anna", null);
        Job job = millrace.submit(MAIL, WELCOME, queue("later"));
        assertThat(millrace.cancel(job.id(), null, null)).isEqualTo(CancelResult.CANCELLED);
        assertThat(Stream.of(millrace.controls().resume(Scope.queue("later"), "anna")))
                .doesNotContain(Optional.empty());
        kit.assertSubmitted(MAIL).once();
    }
}
