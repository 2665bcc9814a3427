package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.maxDuration;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.Millrace;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.Job;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.PastAttempt.Ending;
import dev.millrace.job.RetryPolicy;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.EndAttempt;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The chapter about how attempts and jobs end. */
@MillraceTest
@Timeout(120)
class OutcomesGuideTest {
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");

    private final Millrace millrace;
    private final TestKit kit;
    private final Mailer mailer = new Mailer();

    OutcomesGuideTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
    }

    // tag::end-attempt[]
    void send(Mail mail, JobContext context) {
        if (!mail.to().contains("@")) {
            throw EndAttempt.fail("Not an address: " + mail.to());
        }
        if (mailer.hasUnsubscribed(mail.to())) {
            throw EndAttempt.cancel("Unsubscribed");
        }
        if (mailer.isBusy()) {
            throw EndAttempt.retry(Duration.ofMinutes(1), "Too many mails");
        }
        if (mailer.isInMaintenance()) {
            throw EndAttempt.snooze(Duration.ofMinutes(15), "The mail server is in maintenance");
        }
        mailer.send(mail);
    }
    // end::end-attempt[]

    private static PastAttempt last(JobRun run) {
        List<PastAttempt> history = run.job().outcome().history();
        return history.get(history.size() - 1);
    }

    @Test
    void endAttempt_saysHowTheAttemptEnds() {
        TestKit running = kit.handle(MAIL, this::send);
        JobRun failed = running.run(MAIL, new Mail("anna", "Welcome")).assertFailed();
        assertThat(last(failed).ending()).isEqualTo(Ending.FAILED);
        assertThat(failed.job().outcome().errorMessage()).isEqualTo("Not an address: anna");
        JobRun cancelled =
                running.run(MAIL, new Mail("former@example.com", "Welcome")).assertCancelled();
        assertThat(last(cancelled).message()).isEqualTo("Unsubscribed");
        mailer.busy(true);
        JobRun retried = running.run(MAIL, WELCOME).assertQueuedAgain();
        assertThat(last(retried).ending()).isEqualTo(Ending.RETRIED);
        assertThat(retried.retryDelay()).contains(Duration.ofMinutes(1));
        running.run(MAIL, WELCOME, retry(RetryPolicy.NEVER)).assertFailed();
        mailer.busy(false).inMaintenance(true);
        JobRun snoozed = running.run(MAIL, WELCOME, retry(RetryPolicy.NEVER)).assertQueuedAgain();
        assertThat(last(snoozed).ending()).isEqualTo(Ending.HANDED_BACK);
        assertThat(snoozed.job().outcome().errorMessage()).isNull();
    }

    @Test
    void snooze_countsNot_butTheNumberOfTheAttemptGrows() {
        List<Integer> numbers = new ArrayList<>();
        List<Integer> counted = new ArrayList<>();
        TestKit running = kit.handle(MAIL, (mail, context) -> {
            numbers.add(context.attempt());
            // tag::last[]
            RetryPolicy policy = context.job().policies().retry();
            boolean last = !policy.allowsAnother(context.claim().countedAttempts());
            // end::last[]
            assertThat(last).isFalse();
            counted.add(context.claim().countedAttempts());
            if (numbers.size() < 3) {
                throw EndAttempt.snooze(Duration.ZERO, null);
            }
        });
        running.run(MAIL, WELCOME);
        running.runAllDue();
        assertThat(numbers).containsExactly(1, 2, 3);
        assertThat(counted).containsExactly(1, 1, 1);
    }

    @Test
    void retryPolicies_sayHowOftenAndWhen() {
        // tag::policies[]
        List<RetryPolicy> policies = List.of(
                RetryPolicy.DEFAULT, // 3 attempts; 30 s after the first, 1 min after the second
                RetryPolicy.DEFAULT.withMaxAttempts(10), // ..., 2, 4, 8 min, and then 10 min each time
                RetryPolicy.NEVER, // one attempt
                RetryPolicy.fixed(5, Duration.ofMinutes(1)),
                RetryPolicy.linear(5, Duration.ofMinutes(1), Duration.ofMinutes(10)),
                RetryPolicy.exponential(8, Duration.ofSeconds(1), Duration.ofHours(1)));
        // end::policies[]
        RetryPolicy exact = policies.get(1).withJitter(0);
        assertThat(List.of(1, 2, 3, 4, 5, 6, 7))
                .extracting(exact::delayAfter)
                .extracting(Duration::toSeconds)
                .containsExactly(30L, 60L, 120L, 240L, 480L, 600L, 600L);
        assertThat(policies.get(0).maxAttempts()).isEqualTo(3);
        assertThat(policies.get(2).allowsAnother(1)).isFalse();
        assertThat(policies.get(3).delayAfter(4)).hasMinutes(1);
    }

    @Test
    void history_hasTheAttemptsThatDidNotSucceed() {
        TestKit running = kit.handle(MAIL, (mail, context) -> mailer.send(mail));
        Job job = millrace.submit(MAIL, WELCOME);
        mailer.broken(true);
        JobRun run = running.run(job).assertQueuedAgain();
        mailer.broken(false);
        running.timePasses(job, run.retryDelay().orElseThrow());
        running.run(job).assertSucceeded();
        // tag::history[]
        JobOutcome outcome = millrace.get(job.id()).orElseThrow().outcome();
        PastAttempt first = outcome.history().get(0);
        assertThat(first.ending()).isEqualTo(PastAttempt.Ending.RETRIED);
        assertThat(first.message()).isEqualTo("java.lang.IllegalStateException: The mail server is down");

        assertThat(outcome.history()).hasSize(1); // the attempt that succeeded is not in it
        assertThat(outcome.errorMessage()).isEqualTo(first.message()); // though the job has succeeded since
        // end::history[]
    }

    @Test
    void history_keepsTheLastTwenty() {
        TestKit running = kit.handle(MAIL, (mail, context) -> mailer.send(mail));
        mailer.broken(true);
        Job job = millrace.submit(MAIL, WELCOME, retry(RetryPolicy.fixed(22, Duration.ZERO)));
        running.runAllDue();
        Job failed = millrace.get(job.id()).orElseThrow();
        assertThat(failed.status()).isEqualTo(JobStatus.FAILED);
        assertThat(failed.outcome().history()).hasSize(20);
        assertThat(failed.outcome().history().get(0).attempt()).isEqualTo(3);
    }

    @Test
    void attempt_thatTakesTooLong_failsTheJob_withoutARetry() throws InterruptedException {
        // tag::timeout[]
        Mail mail = new Mail("anna@example.com", "Welcome");
        Job job = millrace.submit(MAIL, mail, maxDuration(Duration.ofMillis(200)));
        // end::timeout[]
        try (Worker worker = millrace.worker()
                .handle(MAIL, (any, context) -> new CountDownLatch(1).await())
                .start()) {
            assertThat(worker.status().alive()).isTrue();
            Job failed = millrace.await(job, Duration.ofSeconds(30));
            assertThat(failed.status()).isEqualTo(JobStatus.FAILED);
            assertThat(failed.outcome().history())
                    .singleElement()
                    .satisfies(attempt -> assertThat(attempt.ending()).isEqualTo(Ending.TIMED_OUT));
        }
    }
}
