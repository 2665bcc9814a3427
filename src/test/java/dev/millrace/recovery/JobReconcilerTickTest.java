package dev.millrace.recovery;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Finish;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a sweep decides, on a clock that goes as told. */
class JobReconcilerTickTest {
    private static final Duration TIMEOUT = FakeStore.HEARTBEAT.timeout();
    private static final Duration STALE = TIMEOUT.plusSeconds(5);

    private final ManualClock clock = new ManualClock();
    private final FakeStore store = new FakeStore(clock);
    private final JobReconciler reconciler =
            new JobReconciler(RecoverySettings.DEFAULT.withBatchSize(5), store, store, clock);

    @Test
    void staleHeartbeat_withAttemptsLeft_isRetriedAfterTheBackoff_sayingWhoWasSilent() {
        store.claimed("a").retry(RetryPolicy.fixed(3, ofSeconds(7)));
        watch(STALE);
        SweepReport report = reconciler.tick();
        assertThat(report.requeued()).isOne();
        assertThat(report.expired()).isOne();
        assertThat(report.failure()).isNull();
        assertThat(report.at()).isEqualTo(store.now());
        Finish.Retry retry = (Finish.Retry) store.finished.get("a");
        assertThat(retry.delay()).isEqualTo(ofSeconds(7));
        assertThat(retry.message())
                .isEqualTo("The heartbeat expired in attempt 1 of 3: no sign of life of worker \"worker-1\" for"
                        + " 1 min 35 s, the timeout is 1 min 30 s.");
    }

    @Test
    void staleHeartbeat_withoutAttemptsLeft_fails_sayingAfterHowManyAttempts() {
        store.claimed("a").retry(RetryPolicy.fixed(3, ofSeconds(7))).attempts(3);
        watch(STALE);
        assertThat(reconciler.tick().failed()).isOne();
        Finish.Fail fail = (Finish.Fail) store.finished.get("a");
        assertThat(fail.reason()).isEqualTo(Finish.Fail.Reason.EXPIRED);
        assertThat(fail.message())
                .isEqualTo(
                        "The heartbeat expired after 3 attempts, and there is no other one: no sign of life of worker"
                                + " \"worker-1\" for 1 min 35 s, the timeout is 1 min 30 s.");
    }

    @Test
    void forgivenAttempts_areNotCounted() {
        store.claimed("a").retry(RetryPolicy.fixed(3, ofSeconds(7))).attempts(5).forgiven(3);
        watch(STALE);
        assertThat(reconciler.tick().requeued()).isOne();
        assertThat(((Finish.Retry) store.finished.get("a")).message()).contains("in attempt 2 of 3");
    }

    @Test
    void jobWhoseWorkerDiesInEveryAttempt_failsAtItsMaximum() {
        for (int attempt = 1; attempt <= 3; attempt++) {
            store.claimed("a").retry(RetryPolicy.fixed(3, ofSeconds(7))).attempts(attempt);
            watch(STALE);
            SweepReport report = reconciler.tick();
            assertThat(report.requeued()).isEqualTo(attempt < 3 ? 1 : 0);
            assertThat(report.failed()).isEqualTo(attempt < 3 ? 0 : 1);
        }
    }

    @Test
    void staleHeartbeat_withACancellationRequest_endsCancelled_alsoWithoutAttemptsLeft() {
        store.claimed("a").cancellationRequested();
        store.claimed("b").cancellationRequested().attempts(3);
        watch(STALE);
        assertThat(reconciler.tick().cancelled()).isEqualTo(2);
        assertThat(store.finished.values()).allMatch(Finish.Cancel.class::isInstance);
    }

    @Test
    void jobOverItsMaximumDuration_failsWithoutRetry_sayingHowLongAndTheLimit() {
        store.claimed("a").maxDuration(ofHours(1));
        clock.advance(ofHours(1).plusMinutes(2));
        assertThat(reconciler.tick().timedOut()).isOne();
        Finish.Fail fail = (Finish.Fail) store.finished.get("a");
        assertThat(fail.reason()).isEqualTo(Finish.Fail.Reason.TIMEOUT);
        assertThat(fail.message())
                .isEqualTo(
                        "Attempt 1, on worker \"worker-1\", took longer than the job's maximum duration: it began 1 h"
                                + " 2 min ago, the limit is 1 h 0 min. The job is not retried.");
    }

    @Test
    void maximumDuration_isNotDelayedByTheOutageGrace_norBelongsACancellationBeforeIt() {
        store.claimed("a").maxDuration(ofSeconds(10)).cancellationRequested();
        clock.advance(STALE);
        SweepReport report = reconciler.tick();
        assertThat(report.timedOut()).isOne();
        assertThat(report.suspended()).isFalse();
    }

    @Test
    void tickWithoutGrace_trustsStaleHeartbeatsAtOnce_butNotFreshOnes_andOnlyItself() {
        store.claimed("a");
        clock.advance(STALE);
        store.claimed("fresh");
        SweepReport report = reconciler.tickWithoutGrace();
        assertThat(report.requeued()).isOne();
        assertThat(report.held()).isZero();
        assertThat(store.finished).containsOnlyKeys("a");
        store.claimed("b");
        clock.advance(ofHours(1));
        assertThat(reconciler.tick().suspended()).isTrue();
    }

    @Test
    void reconcilerThatHasJustStarted_holdsStaleHeartbeats_forOneTimeout() {
        store.claimed("a");
        clock.advance(ofHours(1));
        SweepReport report = reconciler.tick();
        assertThat(report.held()).isOne();
        assertThat(report.suspended()).isTrue();
        watch(TIMEOUT.minusSeconds(1));
        assertThat(reconciler.tick().held()).isOne();
        watch(ofSeconds(1));
        assertThat(reconciler.tick().requeued()).isOne();
    }

    @Test
    void shortAndLongTimeouts_areHeldEachForItsOwnTime() {
        store.claimed("short", new HeartbeatPolicy(ofSeconds(1), ofSeconds(3)));
        store.claimed("long");
        clock.advance(ofHours(1));
        watch(ofSeconds(3));
        SweepReport report = reconciler.tick();
        assertThat(store.finished).containsOnlyKeys("short");
        assertThat(report.held()).isOne();
        watch(TIMEOUT);
        reconciler.tick();
        assertThat(store.finished).containsOnlyKeys("short", "long");
    }

    @Test
    void pauseOfThisProcess_holdsShortTimeoutsAnew_andLongOnesNot() {
        store.claimed("short", new HeartbeatPolicy(ofSeconds(1), ofSeconds(3)));
        store.claimed("long");
        watch(STALE);
        clock.advance(ofSeconds(10));
        assertThat(reconciler.tick().held()).isOne();
        assertThat(store.finished).containsOnlyKeys("long");
    }

    @Test
    void outage_holdsStaleHeartbeats_andExpiresNoneThatIsRenewedAfterIt() {
        store.claimed("alive");
        store.claimed("dead");
        watch(TIMEOUT);
        store.beat("alive");
        store.down();
        for (int i = 0; i < 100; i++) {
            clock.advance(ofMinutes(1));
            SweepReport report = reconciler.tick();
            assertThat(report.failure()).isInstanceOf(StoreUnavailableException.class);
            assertThat(report.at()).isNull();
        }
        assertThat(reconciler.status().outage()).isNotNull();
        store.up();
        assertThat(reconciler.tick().held()).isEqualTo(2);
        assertThat(reconciler.status().outage()).isNull();
        watch(ofSeconds(30));
        store.beat("alive");
        watch(TIMEOUT.minusSeconds(31));
        assertThat(reconciler.tick().held()).isOne();
        watch(ofSeconds(1));
        assertThat(reconciler.tick().requeued()).isOne();
        assertThat(store.finished).containsOnlyKeys("dead");
        assertThat(store.has("alive")).isTrue();
    }

    @Test
    void readThatHangsThroughAnOutage_expiresNothing() {
        store.claimed("alive");
        watch(ofHours(1));
        store.beat("alive");
        // The statement is sent, the network goes, minutes later it is back and delivers: all is stale, nothing failed.
        store.onSuspects = () -> clock.advance(ofMinutes(10));
        assertThat(reconciler.tick().held()).isOne();
        assertThat(store.has("alive")).isTrue();
    }

    @Test
    void storeWhoseClockIsSetForwardDuringASweep_losesNoLiveJob() {
        FakeStore ahead = new FakeStore(() -> clock.getAsLong() + jump);
        JobReconciler its = new JobReconciler(RecoverySettings.DEFAULT, ahead, ahead, clock);
        ahead.claimed("alive");
        for (int i = 0; i < 400; i++) {
            clock.advance(ofMillis(500));
            ahead.beat("alive");
            its.tick();
        }
        ahead.onSuspects = () -> jump = ofHours(1).toNanos();
        assertThat(its.tick().held()).isOne();
        assertThat(ahead.has("alive")).isTrue();
    }

    private long jump;

    @Test
    void beatThatComesInBetween_wins() {
        store.claimed("a").beforeExpiry(() -> store.beat("a"));
        watch(STALE);
        SweepReport report = reconciler.tick();
        assertThat(report.spared()).isOne();
        assertThat(report.expired()).isZero();
        assertThat(store.has("a")).isTrue();
    }

    @Test
    void storeThatIsSlowForGood_recoversJobsAfterTenTimeouts() {
        store.claimed("a");
        store.onProbe = () -> clock.advance(ofMillis(1_500));
        SweepReport report = reconciler.tick();
        while (clock.elapsed().compareTo(TIMEOUT.multipliedBy(10)) < 0) {
            assertThat(report.expired()).isZero();
            report = reconciler.tick();
        }
        while (report.expired() == 0 && clock.elapsed().compareTo(TIMEOUT.multipliedBy(11)) < 0) {
            report = reconciler.tick();
        }
        assertThat(report.requeued()).isOne();
        assertThat(report.suspended()).isFalse();
        assertThat(reconciler.status().suspended()).isTrue();
        assertThat(reconciler.status().reason()).startsWith("the store answered slowly");
    }

    @Test
    void rowThatIsLocked_isSparedUntilABeatCouldHaveFollowedTheUnlock() {
        FakeStore.Row row = store.claimed("a").locked();
        watch(STALE);
        assertThat(reconciler.tick().locked()).isOne();
        // Still locked long after any beat was due: nothing is known of the worker.
        watch(ofMinutes(5));
        assertThat(reconciler.tick().locked()).isOne();
        row.locked = false;
        watch(ofSeconds(1));
        assertThat(reconciler.tick().spared()).isOne();
        watch(ofSeconds(31));
        assertThat(reconciler.tick().spared()).isOne();
        assertThat(store.has("a")).isTrue();
        watch(ofSeconds(2));
        assertThat(reconciler.tick().requeued()).isOne();
    }

    @Test
    void rowThatIsLockedAgain_isSparedAgain() {
        FakeStore.Row row = store.claimed("a").locked();
        watch(STALE);
        assertThat(reconciler.tick().locked()).isOne();
        row.locked = false;
        assertThat(reconciler.tick().spared()).isOne();
        watch(ofSeconds(31));
        row.locked = true;
        assertThat(reconciler.tick().locked()).isOne();
        row.locked = false;
        assertThat(reconciler.tick().spared()).isOne();
        watch(ofSeconds(31));
        assertThat(reconciler.tick().spared()).isOne();
        watch(ofSeconds(1));
        assertThat(reconciler.tick().requeued()).isOne();
    }

    @Test
    void rowThatWasLockedAndIsBeatenForAfterwards_isForgotten() {
        FakeStore.Row row = store.claimed("a").locked();
        watch(STALE);
        assertThat(reconciler.tick().locked()).isOne();
        row.locked = false;
        store.beat("a");
        assertThat(reconciler.tick().spared()).isZero();
        watch(STALE);
        assertThat(reconciler.tick().requeued()).isOne();
    }

    @Test
    void lockedRowOverItsMaximumDuration_failsAsSoonAsItIsFree() {
        FakeStore.Row row = store.claimed("a").maxDuration(ofSeconds(10)).locked();
        clock.advance(ofSeconds(11));
        assertThat(reconciler.tick().locked()).isOne();
        row.locked = false;
        assertThat(reconciler.tick().timedOut()).isOne();
    }

    @Test
    void rowThatThrows_stopsNoneOfTheOthers() {
        store.claimed("a").beforeExpiry(() -> {
            throw new IllegalArgumentException("a bad row");
        });
        store.claimed("b").beforeExpiry(() -> {
            throw new StackOverflowError("a worse row");
        });
        store.claimed("c").beforeExpiry(() -> {
            throw new StoreUnavailableException("a row that breaks its connection", null);
        });
        store.claimed("d");
        store.undispatched = 1;
        watch(STALE);
        SweepReport report = reconciler.tick();
        assertThat(store.finished).containsOnlyKeys("d");
        assertThat(report.errors()).isEqualTo(3);
        assertThat(report.failure()).hasMessage("a bad row");
        assertThat(store.undispatched).isZero();
    }

    @Test
    void jobWhoseRecordCannotBeRead_isLeftToNewerReleases_untilItsMaximumDurationIsOver() {
        store.claimed("a").maxDuration(ofHours(1)).unreadable();
        store.claimed("b");
        watch(STALE);
        SweepReport report = reconciler.tick();
        assertThat(report.errors()).isOne();
        assertThat(store.finished).containsOnlyKeys("b");
        assertThat(report.failure()).isInstanceOf(StoreException.class).hasMessageContaining("\"a\"");
        clock.advance(ofHours(1));
        assertThat(reconciler.tick().timedOut()).isOne();
        assertThat(((Finish.Fail) store.finished.get("a")).message()).contains("can't be read");
    }

    @Test
    void storeThatGoesAwayInTheMiddle_endsTheSweep() {
        store.claimed("a").beforeExpiry(() -> {
            store.down();
            throw new StoreUnavailableException("gone", null);
        });
        store.claimed("b");
        watch(TIMEOUT);
        clock.advance(ofSeconds(1));
        SweepReport report = reconciler.tick();
        assertThat(report.failure()).isInstanceOf(StoreUnavailableException.class);
        assertThat(report.expired()).isZero();
        assertThat(store.has("b")).isTrue();
    }

    @Test
    void fullBatches_areFollowedByTheNext_alsoBehindRowsThatStay() {
        for (int i = 0; i < 12; i++) {
            FakeStore.Row row = store.claimed("held-" + (char) ('a' + i), new HeartbeatPolicy(ofHours(1), ofHours(2)));
            if (i % 2 == 0) {
                row.locked();
            }
        }
        store.claimed("too-long").maxDuration(ofSeconds(10));
        store.claimed("z-stale");
        clock.advance(ofHours(3));
        watch(TIMEOUT);
        SweepReport report = reconciler.tick();
        assertThat(store.finished).containsOnlyKeys("too-long", "z-stale");
        assertThat(report.held()).isEqualTo(12);
        assertThat(store.lookedBehind).containsExactly("", "held-e", "held-j");
    }

    @Test
    void thousandDeadJobs_areRecoveredInOneSweep() {
        for (int i = 0; i < 1_000; i++) {
            store.claimed("job-" + i);
        }
        watch(TIMEOUT);
        clock.advance(ofSeconds(1));
        assertThat(reconciler.tick().requeued()).isEqualTo(1_000);
        assertThat(store.size()).isZero();
    }

    @Test
    void queuedJobsWithoutAPlace_areAllRepaired_batchByBatch() {
        store.undispatched = 12;
        assertThat(reconciler.tick().repaired()).isEqualTo(12);
        assertThat(store.repairs).isEqualTo(3);
    }

    @Test
    void repairThatFails_isReported_andDoesNotUndoTheRest() {
        store.claimed("a").maxDuration(ofSeconds(10));
        clock.advance(ofSeconds(11));
        store.onRepair = () -> {
            throw new StoreException("no", null);
        };
        SweepReport report = reconciler.tick();
        assertThat(report.timedOut()).isOne();
        assertThat(report.errors()).isOne();
        assertThat(report.failure()).hasMessage("no");
    }

    @Test
    void lookingForOverdueJobsThatFails_doesNotKeepQueuedJobsFromTheirPlace() {
        store.undispatched = 1;
        store.onSuspects = () -> {
            throw new StoreException("no", null);
        };
        SweepReport report = reconciler.tick();
        assertThat(report.repaired()).isOne();
        assertThat(report.errors()).isOne();
    }

    @Test
    void status_saysWhetherHeartbeatsAreTrusted_andWhyNot() {
        RecoveryStatus fresh = reconciler.status();
        assertThat(fresh.running()).isFalse();
        assertThat(fresh.suspended()).isTrue();
        assertThat(fresh.reason()).startsWith("this process has just started");
        assertThat(fresh.lastSweep()).isNull();
        store.claimed("a");
        watch(TIMEOUT);
        reconciler.tick();
        RecoveryStatus watching = reconciler.status();
        assertThat(watching.suspended()).isFalse();
        assertThat(watching.reason()).isNull();
        assertThat(watching.watchedFor()).isEqualTo(TIMEOUT);
        assertThat(watching.watchingSince()).isEqualTo(store.now().minus(TIMEOUT));
        assertThat(watching.lastSweep()).isNotNull();
        store.down();
        reconciler.tick();
        RecoveryStatus down = reconciler.status();
        assertThat(down.suspended()).isTrue();
        assertThat(down.reason()).startsWith("the store did not answer");
        assertThat(down.outage()).hasMessage("the server is down");
        assertThat(down.watchingSince()).isNull();
    }

    @Test
    void tickAfterClose_isRefused() {
        reconciler.close();
        reconciler.close();
        assertThatIllegalStateException().isThrownBy(reconciler::tick).withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(reconciler::start).withMessageContaining("closed");
    }

    /** Watches the store without a sweep: probes twice a second, the first one at once. */
    private void watch(Duration time) {
        reconciler.probeRound();
        Duration end = clock.elapsed().plus(time);
        while (clock.elapsed().compareTo(end) < 0) {
            clock.advance(ofMillis(500));
            reconciler.probeRound();
        }
    }
}
