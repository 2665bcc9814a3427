package dev.millrace.testkit;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.maxDuration;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.retention;
import static dev.millrace.SubmitOption.retry;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.Millrace;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.SweepReport;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.LogEntry;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Time passes without anybody waiting. */
@MillraceTest
@Timeout(60)
class TimeTest {
    record Work(String what) {}

    private static final JobType<Work> WORK = JobType.of("work", Work.class);

    private final Millrace millrace;
    private final TestKit kit;

    TimeTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit.handle(WORK, (work, context) -> {
            if (work.what().equals("fails")) {
                throw new IllegalStateException("as asked");
            }
        });
    }

    private Job get(Job job) {
        return millrace.get(job.id()).orElseThrow();
    }

    private Job claimed(Job job) {
        millrace.queue().claim(AssignedClaim.of("dead", job.id()));
        return get(job);
    }

    @Test
    void delayedJob_isDueAfterItsDelay_notBefore() {
        Job job = millrace.submit(WORK, new Work("a"), delay(ofHours(2)));
        kit.timePasses(ofMinutes(119));
        assertThat(kit.runAllDue()).isEmpty();
        kit.timePasses(ofMinutes(1));
        assertThat(kit.runAllDue()).extracting(run -> run.job().id()).containsExactly(job.id());
    }

    @Test
    void retry_isDueAfterItsBackoff() {
        JobRun run = kit.run(WORK, new Work("fails"), retry(RetryPolicy.fixed(2, ofMinutes(5))));
        assertThat(kit.runAllDue()).isEmpty();
        kit.timePasses(run.job(), run.retryDelay().orElseThrow());
        kit.run(run.job()).assertFailed();
    }

    @Test
    void allTimesOfAJob_areMovedBack_byTheSame() {
        Job job = kit.run(WORK, new Work("fails")).job();
        kit.timePasses(job, ofHours(3));
        Job older = get(job);
        assertThat(older.createdAt()).isEqualTo(job.createdAt().minus(ofHours(3)));
        assertThat(older.state().updatedAt()).isEqualTo(job.state().updatedAt().minus(ofHours(3)));
        assertThat(older.state().nextRetryAt())
                .isEqualTo(job.state().nextRetryAt().minus(ofHours(3)));
        assertThat(older.version()).isEqualTo(job.version());

        Job claimed = claimed(older);
        kit.timePasses(claimed, ofSeconds(1));
        assertThat(get(job).state().claimedAt())
                .isEqualTo(claimed.state().claimedAt().minusSeconds(1));
        assertThat(get(job).state().lastHeartbeatAt())
                .isEqualTo(claimed.state().lastHeartbeatAt().minusSeconds(1));

        Job ended = kit.run(WORK, new Work("a")).job();
        kit.timePasses(ended, ofSeconds(1));
        Instant completed = get(ended).state().completedAt();
        assertThat(completed).isEqualTo(ended.state().completedAt().minusSeconds(1));
    }

    @Test
    void timePasses_forOneJob_leavesTheOthers() {
        Job one = millrace.submit(WORK, new Work("a"), delay(ofMinutes(1)));
        Job other = millrace.submit(WORK, new Work("b"), delay(ofMinutes(1)));
        kit.timePasses(one, ofMinutes(1));
        assertThat(kit.runAllDue()).extracting(run -> run.job().id()).containsExactly(one.id());
        assertThat(get(other)).isEqualTo(other);
    }

    @Test
    void timePasses_forJobsThatTheKitSees_only() {
        Job before = millrace.submit(WORK, new Work("a"), delay(ofMinutes(1)));
        TestKit later = kit.sinceNow();
        Job mail = millrace.submit(WORK, new Work("b"), queue("mail"), delay(ofMinutes(1)));
        Job rest = millrace.submit(WORK, new Work("c"), delay(ofMinutes(1)));
        millrace.logs().append(mail.id(), List.of(LogEntry.of(1, LogEntry.Level.INFO, "a line")));
        later.onlyQueues("mail").timePasses(ofMinutes(1));
        assertThat(kit.runAllDue()).extracting(run -> run.job().id()).containsExactly(mail.id());
        later.timePasses(ofMinutes(1));
        assertThat(kit.runAllDue()).extracting(run -> run.job().id()).containsExactly(rest.id());
        assertThat(get(before)).isEqualTo(before);
    }

    @Test
    void timeThatGoesBack_andJobsThatAreNotThere_areRefused() {
        Job job = millrace.submit(WORK, new Work("a"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> kit.timePasses(ofSeconds(-1)))
                .withMessageContaining("PT-1S");
        assertThatIllegalArgumentException().isThrownBy(() -> kit.timePasses(job, ofSeconds(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> kit.timePasses("nobody", ofSeconds(1)))
                .withMessageContaining("\"nobody\"");
        kit.timePasses(Duration.ZERO);
        assertThat(get(job)).isEqualTo(job);
    }

    // Recovery.

    @Test
    void silentWorker_losesItsJobAtOnce_onlyAfterTheHeartbeatTimeout() {
        Job job = claimed(millrace.submit(WORK, new Work("a"), retry(RetryPolicy.fixed(2, Duration.ZERO))));
        Duration timeout = job.policies().heartbeat().timeout();
        kit.timePasses(job, timeout.minusSeconds(30));
        assertThat(kit.recoverNow().expired()).isZero();
        assertThatThrownBy(() -> kit.run(job)).hasMessageContaining("worker \"dead\" holds it");

        kit.timePasses(job, ofSeconds(30));
        assertThatThrownBy(() -> kit.run(job)).hasMessageEndingWith("recoverNow().");
        SweepReport report = kit.recoverNow();
        assertThat(report.requeued()).isOne();
        assertThat(report.held()).isZero();
        JobRun run = kit.run(job).assertSucceeded();
        assertThat(run.attempt()).isEqualTo(2);
        assertThat(run.job().outcome().history())
                .extracting(PastAttempt::ending)
                .containsExactly(PastAttempt.Ending.EXPIRED);
    }

    @Test
    void jobOverItsMaximumDuration_failsInTheSweep() {
        Job job = claimed(millrace.submit(WORK, new Work("a"), maxDuration(ofMinutes(10))));
        kit.timePasses(job, ofMinutes(11));
        assertThat(kit.recoverNow().timedOut()).isOne();
        assertThat(get(job).status()).isEqualTo(JobStatus.FAILED);
    }

    @Test
    void jobWithoutAPlace_getsOneOnceTimeHasPassed() {
        Job job = millrace.submit(WORK, new Work("a"));
        millrace.queue().remove(job.id());
        assertThat(kit.recoverNow().repaired()).isZero();
        assertThat(kit.runAllDue()).isEmpty();
        kit.timePasses(job, ofMinutes(2));
        assertThat(kit.recoverNow().repaired()).isOne();
        assertThat(kit.runAllDue()).hasSize(1);
    }

    // Retention.

    @Test
    void jobLogAndResult_areDeletedAfterTheirRetention_notBefore() {
        JobRun run = kit.run(WORK, new Work("a"), retention(ofDays(3)));
        String id = run.job().id();
        millrace.logs().append(id, List.of(LogEntry.of(1, LogEntry.Level.INFO, "a line")));
        millrace.logs().setRetention(id, ofDays(3));
        millrace.results().put(id, JsonText.of("{}"), ofDays(3));
        kit.timePasses(ofDays(2));
        kit.sweepRetentionNow();
        assertThat(millrace.get(id)).isPresent();
        assertThat(millrace.results().get(id)).isPresent();
        assertThat(millrace.logs().tail(id, 1).lines()).hasSize(1);

        kit.timePasses(ofDays(1));
        RetentionReport report = kit.sweepRetentionNow();
        assertThat(report.jobs()).isOne();
        assertThat(report.logs()).isOne();
        assertThat(report.results()).isOne();
        assertThat(millrace.get(id)).isEmpty();
        kit.assertNothingSubmitted();
    }

    @Test
    void logAndResultOfOneJob_ageWithIt() {
        String id = kit.run(WORK, new Work("a")).job().id();
        String other = kit.run(WORK, new Work("b")).job().id();
        for (String job : List.of(id, other)) {
            millrace.logs().append(job, List.of(LogEntry.of(1, LogEntry.Level.INFO, "a line")));
            millrace.results().put(job, JsonText.of("{}"), ofDays(7));
        }
        kit.timePasses(id, ofDays(8));
        assertThat(kit.sweepRetentionNow().deleted()).isEqualTo(3);
        assertThat(millrace.get(other)).isPresent();
        assertThat(millrace.results().get(other)).isPresent();
    }
}
