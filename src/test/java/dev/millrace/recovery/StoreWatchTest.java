package dev.millrace.recovery;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.recovery.StoreWatch.Break;
import dev.millrace.recovery.StoreWatch.Probe;
import dev.millrace.recovery.StoreWatch.Trust;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class StoreWatchTest {
    private static final Duration TIMEOUT = ofSeconds(90);
    private static final Duration SHORT = ofSeconds(3);
    private static final Duration STALE = ofSeconds(91);

    private final ManualClock clock = new ManualClock();
    private final StoreWatch watch = new StoreWatch(clock, ofSeconds(1));
    private Duration storeClockOff = ZERO;

    @Test
    void watchThatHasJustStarted_trustsNoHeartbeat_untilItLastedForTheTimeout() {
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        answer();
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        healthyFor(TIMEOUT.minusMillis(1));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        healthyFor(ofMillis(1));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
    }

    @Test
    void heartbeat_isTrustedOnlyIfTheWatchWasLongEnoughWhenItWasRead() {
        answer();
        healthyFor(TIMEOUT.minusMillis(1));
        long readAt = clock.getAsLong();
        healthyFor(ofSeconds(10));
        assertThat(watch.trust(TIMEOUT, STALE, readAt)).isEqualTo(Trust.NOT_YET);
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
    }

    @Test
    void failedProbe_startsTheWatchAnew() {
        watchedFor(ofHours(1));
        failedProbe();
        assertThat(trust(SHORT)).isEqualTo(Trust.NOT_YET);
        assertThat(watch.healthy()).isFalse();
        answer();
        healthyFor(SHORT.minusMillis(1));
        assertThat(trust(SHORT)).isEqualTo(Trust.NOT_YET);
        healthyFor(ofMillis(1));
        assertThat(trust(SHORT)).isEqualTo(Trust.WATCHED);
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
    }

    @Test
    void slowProbe_startsTheWatchAnew() {
        watchedFor(ofHours(1));
        answerAfter(ofMillis(1_001));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        assertThat(watch.state(TIMEOUT).lastBreak()).isEqualTo(Break.SLOW);
        watchedFor(TIMEOUT);
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
    }

    @Test
    void probeThatTakesAsLongAsIsAllowed_breaksNothing() {
        watchedFor(ofHours(1));
        answerAfter(ofSeconds(1));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
    }

    @Test
    void probeThatIsOutForTooLong_suspendsTrustBeforeItIsBack() {
        watchedFor(ofHours(1));
        watch.begin();
        clock.advance(ofMillis(900));
        answer();
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
        clock.advance(ofMillis(101));
        answer();
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        assertThat(watch.healthy()).isFalse();
    }

    @Test
    void answerToAProbeThatWasSentBeforeABreak_doesNotStartAWatch() {
        watchedFor(ofHours(1));
        Probe before = watch.begin();
        clock.advance(ofMillis(100));
        failedProbe();
        clock.advance(ofMillis(100));
        watch.answered(before, storeTime());
        assertThat(watch.healthy()).isFalse();
        answer();
        assertThat(watch.healthy()).isTrue();
    }

    @Test
    void gap_breaksTheWatchForTimeoutsUnderThreeTimesItsLength_andForNoOthers() {
        watchedFor(ofHours(1));
        clock.advance(ofSeconds(5));
        answer();
        assertThat(trust(ofSeconds(14))).isEqualTo(Trust.NOT_YET);
        assertThat(trust(ofSeconds(16))).isEqualTo(Trust.WATCHED);
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
        healthyFor(ofSeconds(14));
        assertThat(trust(ofSeconds(14))).isEqualTo(Trust.WATCHED);
    }

    @Test
    void gapThatIsNotOver_countsAsOne() {
        watchedFor(ofHours(1));
        clock.advance(ofMillis(1_001));
        assertThat(trust(SHORT)).isEqualTo(Trust.NOT_YET);
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
        clock.advance(ofSeconds(30));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        assertThat(watch.state(TIMEOUT).lastBreak()).isEqualTo(Break.UNWATCHED);
    }

    @Test
    void manySmallGaps_hideNoLargeOneBeforeThem() {
        watchedFor(ofHours(1));
        clock.advance(ofSeconds(40));
        answer();
        for (int i = 0; i < 20; i++) {
            clock.advance(ofMillis(1_500 - i));
            answer();
        }
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        healthyFor(ofSeconds(60));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        healthyFor(ofSeconds(10));
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
    }

    @Test
    void timeThatOnlyTheStoresClockSaw_isAGap() {
        watchedFor(ofHours(1));
        // The machine slept: its monotonic clock stood still. Or the database's clock was set forward.
        storeClockOff = storeClockOff.plusMinutes(10);
        answer();
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
        assertThat(trust(ofMinutes(31))).isEqualTo(Trust.WATCHED);
        healthyFor(TIMEOUT);
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
    }

    @Test
    void storesClockThatIsSetBack_breaksNothing_butForwardAgainDoes() {
        watchedFor(ofHours(1));
        storeClockOff = storeClockOff.minusMinutes(10);
        answer();
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.WATCHED);
        storeClockOff = storeClockOff.plusMinutes(10);
        answer();
        assertThat(trust(TIMEOUT)).isEqualTo(Trust.NOT_YET);
    }

    @Test
    void storeTimesAtBothEndsOfHistory_overflowNothing() {
        watch.answered(watch.begin(), Instant.MIN);
        watch.answered(watch.begin(), Instant.MAX);
        assertThat(trust(ofDays(36_525))).isEqualTo(Trust.NOT_YET);
        assertThat(watch.untilTrusted(ofDays(36_525))).isEqualTo(ofDays(36_525));
    }

    @Test
    void storeThatIsSlowForGood_isTrustedAfterTenTimeouts_forHeartbeatsThatAreTenTimeoutsOld() {
        answer();
        slowFor(TIMEOUT.multipliedBy(10).minusSeconds(5));
        assertThat(trust(TIMEOUT, ofDays(1))).isEqualTo(Trust.NOT_YET);
        slowFor(ofSeconds(5));
        assertThat(trust(TIMEOUT, ofDays(1))).isEqualTo(Trust.CAPPED);
        assertThat(trust(TIMEOUT, ofMinutes(15))).isEqualTo(Trust.CAPPED);
        assertThat(trust(TIMEOUT, ofMinutes(15).minusMillis(1))).isEqualTo(Trust.NOT_YET);
    }

    @Test
    void storeThatFailsNowAndThenForGood_isTrustedAfterTenTimeouts() {
        answer();
        for (int i = 0; i < 30; i++) {
            healthyFor(ofSeconds(30));
            failedProbe();
        }
        clock.advance(ofSeconds(1));
        assertThat(trust(TIMEOUT, ofMinutes(15).minusMillis(1))).isEqualTo(Trust.NOT_YET);
        assertThat(trust(TIMEOUT, ofDays(1))).isEqualTo(Trust.CAPPED);
    }

    @Test
    void outageOfAnyLength_isNoTimeForTheCap() {
        for (Duration length : new Duration[] {ofSeconds(91), ofMinutes(30), ofDays(30)}) {
            slowFor(ofMinutes(20));
            // Each probe fails until it is over.
            for (Duration end = clock.elapsed().plus(length); clock.elapsed().compareTo(end) < 0; ) {
                clock.advance(length.dividedBy(50));
                failedProbe();
            }
            answerAfter(ofMillis(1_500));
            assertThat(trust(TIMEOUT, ofDays(365))).as("%s", length).isEqualTo(Trust.NOT_YET);
        }
    }

    @Test
    void probeThatHangsThroughAnOutageAndIsAnsweredAfterIt_isNoTimeForTheCap() {
        slowFor(ofMinutes(20));
        answerAfter(ofMinutes(10));
        assertThat(trust(TIMEOUT, ofDays(365))).isEqualTo(Trust.NOT_YET);
        slowFor(TIMEOUT.multipliedBy(9));
        assertThat(trust(TIMEOUT, ofDays(365))).isEqualTo(Trust.NOT_YET);
        slowFor(TIMEOUT.plusSeconds(2));
        assertThat(trust(TIMEOUT, ofDays(365))).isEqualTo(Trust.CAPPED);
    }

    @Test
    void outageShorterThanATimeout_inASlowStore_expiresNoWorkerThatWasAliveBeforeIt() {
        slowFor(ofMinutes(60));
        answerAfter(TIMEOUT.minusSeconds(3));
        Duration ageOfALiveWorkersHeartbeat = TIMEOUT.dividedBy(2).plus(TIMEOUT);
        assertThat(trust(TIMEOUT, ageOfALiveWorkersHeartbeat)).isEqualTo(Trust.NOT_YET);
    }

    @Test
    void timeoutShorterThanProbesCanBeFrequent_isWatchedForALittleLonger() {
        answer();
        clock.advance(ofMillis(80));
        answer();
        clock.advance(ofMillis(80));
        answer();
        assertThat(trust(ofMillis(20))).isEqualTo(Trust.NOT_YET);
        clock.advance(ofMillis(80));
        answer();
        clock.advance(ofMillis(10));
        assertThat(trust(ofMillis(20))).isEqualTo(Trust.WATCHED);
    }

    @Test
    void untilTrusted_countsDown_andStartsAgainAfterABreak() {
        assertThat(watch.untilTrusted(TIMEOUT)).isEqualTo(TIMEOUT);
        watchedFor(ofSeconds(60));
        assertThat(watch.untilTrusted(TIMEOUT)).isEqualTo(ofSeconds(30));
        healthyFor(ofSeconds(60));
        assertThat(watch.untilTrusted(TIMEOUT)).isZero();
        failedProbe();
        assertThat(watch.untilTrusted(TIMEOUT)).isEqualTo(TIMEOUT);
    }

    @Test
    void state_saysSinceWhenAndWhatWasBefore() {
        assertThat(watch.state(TIMEOUT)).isEqualTo(new StoreWatch.State(ZERO, null, Break.STARTED));
        answer();
        Instant first = storeTime();
        healthyFor(ofSeconds(10));
        assertThat(watch.state(TIMEOUT)).isEqualTo(new StoreWatch.State(ofSeconds(10), first, Break.STARTED));
        clock.advance(ofSeconds(40));
        answer();
        Instant afterGap = storeTime();
        healthyFor(ofSeconds(5));
        assertThat(watch.state(TIMEOUT)).isEqualTo(new StoreWatch.State(ofSeconds(5), afterGap, Break.UNWATCHED));
        failedProbe();
        assertThat(watch.state(TIMEOUT)).isEqualTo(new StoreWatch.State(ZERO, null, Break.FAILED));
    }

    private Trust trust(Duration timeout) {
        return trust(timeout, timeout.plusSeconds(1));
    }

    private Trust trust(Duration timeout, Duration age) {
        return watch.trust(timeout, age, clock.getAsLong());
    }

    private void watchedFor(Duration time) {
        answer();
        healthyFor(time);
    }

    /** Probes that are answered at once, four a second. */
    private void healthyFor(Duration time) {
        Duration end = clock.elapsed().plus(time);
        while (clock.elapsed().compareTo(end) < 0) {
            Duration left = end.minus(clock.elapsed());
            clock.advance(left.compareTo(ofMillis(250)) < 0 ? left : ofMillis(250));
            answer();
        }
    }

    /** Probes that take a second and a half each. */
    private void slowFor(Duration time) {
        Duration end = clock.elapsed().plus(time);
        while (clock.elapsed().compareTo(end) < 0) {
            answerAfter(ofMillis(1_500));
        }
    }

    private void answer() {
        answerAfter(ZERO);
    }

    private void answerAfter(Duration time) {
        Probe probe = watch.begin();
        clock.advance(time);
        watch.answered(probe, storeTime());
    }

    private void failedProbe() {
        watch.failed(watch.begin());
    }

    private Instant storeTime() {
        return Instant.parse("2026-03-01T00:00:00Z").plus(clock.elapsed()).plus(storeClockOff);
    }
}
