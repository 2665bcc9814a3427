package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.retention;
import static dev.millrace.SubmitOption.tenant;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.LogLine;
import dev.millrace.store.LogPage;
import dev.millrace.store.LogSettings;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JsonText;
import dev.millrace.worker.InvalidWorkerException;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** The chapters about tests, retention and limits. */
@MillraceTest
class KeepingGuideTest {
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");
    private static final int MEBIBYTE = 1024 * 1024;

    private final Mailer mailer = new Mailer();
    private final Millrace millrace;
    private final TestKit kit;

    KeepingGuideTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
    }

    @Test
    void handler_isTestedOnTheTestsThread() {
        // tag::kit[]
        TestKit running = kit.handle(MAIL, (mail, context) -> mailer.send(mail));
        Job job = millrace.submit(MAIL, new Mail("anna@example.com", "Still there?"), delay(Duration.ofDays(14)));

        assertThat(running.runAllDue()).isEmpty();
        running.timePasses(Duration.ofDays(14));
        JobRun run = running.run(job).assertSucceeded();
        // end::kit[]
        assertThat(run.job().id()).isEqualTo(job.id());
        assertThat(mailer.sent()).hasSize(1);
    }

    @Test
    void job_isDeletedOnceItsRetentionIsOver_andItsIdIsFree() {
        // tag::retention[]
        Job job = millrace.submit(INVOICE, new Invoice(17), id("invoice-17"), retention(Duration.ofDays(1)));
        // end::retention[]
        kit.handle(INVOICE, (invoice, context) -> context.log("Printed"))
                .run(job)
                .assertSucceeded();
        kit.timePasses(Duration.ofHours(23));
        kit.sweepRetentionNow();
        assertThat(millrace.get("invoice-17")).isPresent();
        kit.timePasses(Duration.ofHours(1));
        kit.sweepRetentionNow();
        assertThat(millrace.get("invoice-17")).isEmpty();
        assertThat(millrace.submit(INVOICE, new Invoice(18), id("invoice-17")).version())
                .isEqualTo(1);
    }

    @Test
    void worker_hasItsSettingsOfRetention() {
        // tag::sweeper[]
        Worker worker = millrace.worker()
                .resultRetention(Duration.ofDays(1))
                .logs(LogSettings.DEFAULT.withLogRetention(Duration.ofDays(2)))
                .retention(RetentionSettings.DEFAULT.withRetentionSweepInterval(Duration.ofMinutes(1)))
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::sweeper[]
        worker.close();
        assertThat(worker.settings().resultRetention()).hasDays(1);
    }

    @Test
    void valueThatIsNotAllowed_isRefusedBeforeAnythingIsWritten() {
        // tag::refused[]
        assertThatExceptionOfType(InvalidJobException.class)
                .isThrownBy(() -> millrace.submit(MAIL, new Mail("anna@example.com", "Welcome"), queue("")))
                .withMessage("Invalid queue: found 0 characters, allowed is 1 to 64 characters, at most 128 bytes in"
                        + " UTF-8, without NUL and lone surrogates. Nothing was written.");
        // end::refused[]
    }

    private void assertLimit(SubmitOption allowed, SubmitOption refused) {
        assertThatNoException().isThrownBy(() -> millrace.submit(MAIL, WELCOME, allowed));
        assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> millrace.submit(MAIL, WELCOME, refused));
    }

    @Test
    void limitsOfASubmission_areAsTheGuideSays() {
        assertLimit(id("i".repeat(512)), id("i".repeat(513)));
        assertLimit(queue("q".repeat(64)), queue("q".repeat(65)));
        assertLimit(tenant("t".repeat(128)), tenant("t".repeat(129)));
        assertLimit(delay(Duration.ofDays(36_525)), delay(Duration.ofDays(36_526)));
        assertLimit(delay(Duration.ZERO), delay(Duration.ofMillis(-1)));
        assertThatExceptionOfType(InvalidJobException.class)
                .isThrownBy(() -> JobType.of("k".repeat(65), JsonText.class));
        assertThatExceptionOfType(InvalidJobException.class)
                .isThrownBy(() -> millrace.submit(MAIL, new Mail("anna@example.com", "s".repeat(MEBIBYTE))));
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(() -> millrace.worker().concurrency(10_001));
    }

    @Test
    void limitsOfLogsAndResults_areAsTheGuideSays() {
        String jobId = kit.handle(MAIL, (mail, context) -> {
                    context.log("m".repeat(5_000));
                    assertThatExceptionOfType(InvalidJobException.class)
                            .isThrownBy(() -> context.resultPackage("r".repeat(MEBIBYTE)));
                })
                .run(MAIL, WELCOME)
                .assertSucceeded()
                .job()
                .id();
        LogLine cut = millrace.logs().tail(jobId, 1).lines().get(0);
        assertThat(cut.cut()).isTrue();
        assertThat(cut.message().length()).isBetween(3_800, 4_096);
        for (int i = 0; i < 3; i++) {
            millrace.logs().append(jobId, Collections.nCopies(1_000, LogEntry.of(1, Level.INFO, "line")));
        }
        LogPage log = millrace.logs().tail(jobId, 1);
        assertThat(log.appended()).isEqualTo(3_001);
        assertThat(log.appended() - log.dropped()).isBetween(2_000L, 2_020L);
    }
}
