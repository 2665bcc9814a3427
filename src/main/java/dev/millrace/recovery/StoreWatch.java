package dev.millrace.recovery;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a stale heartbeat means a dead worker, or only that nobody's beats came in.
 *
 * <p><b>The question.</b> After an outage of the database every heartbeat is stale, also those of workers that are alive
 * and about to beat. By the database's clock both look the same. What tells them apart is whether the database <em>could
 * have taken</em> a beat, and only someone who has been watching it knows that.
 *
 * <p><b>The algorithm.</b> Probes that go the way of a beat are sent all the time. A probe that fails, or takes longer
 * than the slow-probe limit, starts the watch anew. So does a gap, a time between two answers in which nothing was seen,
 * because a probe hung, or because this process was suspended or starved. How long a gap may be depends on the job: a
 * third of its heartbeat timeout; so one short pause costs jobs with short timeouts their watch, and others nothing. Gaps
 * are measured by this process's monotonic clock and by the database's own, whichever says more: the former stands still
 * while a machine sleeps, the latter may be set forward and make every heartbeat stale at once.
 *
 * <p>A stale heartbeat is trusted if, when it was <em>read</em>, the watch had lasted for the job's whole heartbeat
 * timeout, and if nothing has broken it since then. What was proven at the read stays true, so nothing that happens
 * between the read and the expiry (which checks the age once more) can make it wrong.
 *
 * <p><b>Why it is safe.</b> A worker beats at least twice within the timeout. If it lives and its heartbeat is stale
 * nevertheless, every beat of the last timeout's length failed. Unseen by the watch, the store can have been away for a
 * third of the timeout, and the beat before that is half a timeout older at most: together less than the timeout. So
 * the store must have been away for longer, and then a probe failed, was slow, or left a gap.
 *
 * <p><b>The cap.</b> A store that is slow, or fails now and then, for good would suspend recovery for good. So a
 * heartbeat that is ten timeouts old is trusted also without a healthy watch, if the store has answered in all that
 * time, however slowly and with failures in between, and never left a gap as long as the timeout. An outage is such a
 * gap unless it is shorter than one timeout, and an outage of one timeout makes no live worker's heartbeat ten timeouts
 * old. So the cap counts only time in which probes were answered, and an outage of any length expires nobody.
 *
 * <p>Safe for use by many threads; never waits for anything.
 */
final class StoreWatch {
    /** Timeouts shorter than this are watched as if they were this long: probes can't come arbitrarily often. */
    static final Duration SHORTEST = Duration.ofMillis(250);

    private static final int CAP = 10;

    /** What started the watch anew. */
    enum Break {
        STARTED("this process has just started to watch the store"),
        FAILED("the store did not answer"),
        SLOW("the store answered slowly"),
        UNWATCHED("the store was not watched for a while, because this process was held up or an answer was");

        private final String text;

        Break(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /** A probe that is on its way. */
    static final class Probe {
        private final long startedAt;

        private Probe(long startedAt) {
            this.startedAt = startedAt;
        }
    }

    /** Whether to believe a stale heartbeat. */
    enum Trust {
        /** The watch has lasted for the job's heartbeat timeout. */
        WATCHED,
        /** It has not, but the grace of ten timeouts is over. */
        CAPPED,
        /** Not yet. */
        NOT_YET
    }

    /**
     * What can be said of the store with regard to one heartbeat timeout.
     *
     * @param lasted for how long it has been seen to be healthy without a break
     * @param since since when, in database time; null if it is not
     * @param lastBreak what started the watch anew the last time
     */
    record State(Duration lasted, @Nullable Instant since, Break lastBreak) {}

    private final LongSupplier clock;
    private final long slow;
    private final Set<Probe> outstanding = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Gaps gaps = new Gaps();

    /** The last answer: when its probe was sent, and the database's time in it. Null before the first one. */
    private @Nullable Answer last;

    private long answeringSince;

    /** The first answer since the last break; null while there is none. */
    private @Nullable Answer healthySince;

    private long brokenAt;
    private Break lastBreak = Break.STARTED;

    private record Answer(long sentAt, long receivedAt, Instant storeTime) {}

    /**
     * @param clock a monotonic clock in nanoseconds
     * @param slow an answer that takes longer starts the watch anew
     */
    StoreWatch(LongSupplier clock, Duration slow) {
        this.clock = clock;
        this.slow = slow.toNanos();
        this.brokenAt = clock.getAsLong();
    }

    /** A probe is about to be sent. It must end with {@link #answered} or {@link #failed(Probe)}. */
    synchronized Probe begin() {
        Probe probe = new Probe(clock.getAsLong());
        outstanding.add(probe);
        return probe;
    }

    /** A probe came back. */
    synchronized void answered(Probe probe, Instant storeTime) {
        outstanding.remove(probe);
        Answer answer = new Answer(probe.startedAt, clock.getAsLong(), storeTime);
        if (last == null) {
            answeringSince = answer.receivedAt;
            last = answer;
        } else {
            gaps.add(answer.receivedAt, gapBetween(last, answer));
            last = answer.sentAt - last.sentAt >= 0 ? answer : last;
        }
        if (answer.receivedAt - answer.sentAt > slow) {
            startAnew(Break.SLOW);
        } else if (healthySince == null && answer.sentAt - brokenAt >= 0) {
            // A probe that was sent before the break says nothing about the time after it.
            healthySince = answer;
        }
    }

    /** A probe did not come back, or with an error. */
    synchronized void failed(Probe probe) {
        outstanding.remove(probe);
        startAnew(Break.FAILED);
    }

    /**
     * Whether to believe a stale heartbeat.
     *
     * @param timeout the job's heartbeat timeout
     * @param age how old the heartbeat is by database time, at least
     * @param readAt when it was read: a time of the monotonic clock before the reading statement was sent
     */
    synchronized Trust trust(Duration timeout, Duration age, long readAt) {
        long watch = watchFor(timeout);
        Long healthy = healthyFrom(watch);
        if (healthy != null && readAt - healthy >= watch) {
            return Trust.WATCHED;
        }
        long cap = watch > Long.MAX_VALUE / CAP ? Long.MAX_VALUE : watch * CAP;
        Long answering = answeringFrom(watch);
        boolean over = answering != null && readAt - answering >= cap && age.compareTo(Duration.ofNanos(cap)) >= 0;
        return over ? Trust.CAPPED : Trust.NOT_YET;
    }

    /** How long, from now, until a heartbeat with this timeout is trusted if nothing goes wrong; zero if it already is. */
    synchronized Duration untilTrusted(Duration timeout) {
        long watch = watchFor(timeout);
        Long healthy = healthyFrom(watch);
        return Duration.ofNanos(healthy == null ? watch : Math.max(0, watch - (clock.getAsLong() - healthy)));
    }

    /** Whether a probe that was sent later than this has been answered. */
    synchronized boolean answeredSince(long time) {
        return last != null && last.sentAt - time > 0;
    }

    /** Whether the store is seen to be healthy at present, for however short a time. */
    synchronized boolean healthy() {
        return healthySince != null && !slowProbeOutstanding(clock.getAsLong());
    }

    /** What can be said with regard to this heartbeat timeout. */
    synchronized State state(Duration timeout) {
        if (healthySince == null) {
            return new State(Duration.ZERO, null, lastBreak);
        }
        Long from = healthyFrom(watchFor(timeout));
        if (from == null) {
            return new State(Duration.ZERO, null, Break.UNWATCHED);
        }
        long afterBreak = from - healthySince.receivedAt;
        return new State(
                Duration.ofNanos(clock.getAsLong() - from),
                healthySince.storeTime.plusNanos(afterBreak),
                afterBreak == 0 ? lastBreak : Break.UNWATCHED);
    }

    /** Since when the store has been healthy without a gap over a third of the timeout; null if it is not just now. */
    private @Nullable Long healthyFrom(long watch) {
        long now = clock.getAsLong();
        if (last == null || healthySince == null || slowProbeOutstanding(now) || now - last.sentAt > watch / 3) {
            return null;
        }
        gaps.forgetBefore(now);
        return later(healthySince.receivedAt, gaps.endOfLastLongerThan(watch / 3, healthySince.receivedAt));
    }

    /** Since when it has answered without a gap as long as the timeout, however slowly; null if it doesn't just now. */
    private @Nullable Long answeringFrom(long watch) {
        if (last == null || clock.getAsLong() - last.sentAt > watch) {
            return null;
        }
        return later(answeringSince, gaps.endOfLastLongerThan(watch, answeringSince));
    }

    private boolean slowProbeOutstanding(long now) {
        return outstanding.stream().anyMatch(probe -> now - probe.startedAt > slow);
    }

    private void startAnew(Break cause) {
        healthySince = null;
        brokenAt = clock.getAsLong();
        lastBreak = cause;
    }

    /** The store was at work at some time between the sending and the receiving of each; so this is the longest pause. */
    private static long gapBetween(Answer earlier, Answer later) {
        long here = later.receivedAt - earlier.sentAt;
        Duration there = Duration.between(earlier.storeTime, later.storeTime);
        return there.compareTo(Duration.ofNanos(Long.MAX_VALUE)) > 0
                ? Long.MAX_VALUE
                : Math.max(here, there.isNegative() ? 0 : there.toNanos());
    }

    private static long watchFor(Duration timeout) {
        return (timeout.compareTo(SHORTEST) < 0 ? SHORTEST : timeout).toNanos();
    }

    private static long later(long one, long other) {
        return one - other >= 0 ? one : other;
    }
}
