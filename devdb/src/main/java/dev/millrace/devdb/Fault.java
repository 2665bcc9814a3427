package dev.millrace.devdb;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

/**
 * What {@link FaultyProxy} does to an exchange: to one request of a client, and the server's reply to it. A request is all
 * that a client sends until it waits for an answer; the driver sends a statement in one.
 *
 * <p>By default it strikes the next exchange, once; {@link #onStatement}, {@link #skipping} and {@link #times} choose
 * others. Immutable.
 */
public final class Fault {
    enum Kind {
        CUT_BEFORE_REQUEST,
        CUT_BEFORE_REPLY,
        STALL,
        HALF_OPEN
    }

    private final Kind kind;
    private final Duration duration;
    private final String part;
    private final int skipped;
    private final int times;

    private Fault(Kind kind, Duration duration, String part, int skipped, int times) {
        this.kind = kind;
        this.duration = duration;
        this.part = part;
        this.skipped = skipped;
        this.times = times;
    }

    private static Fault of(Kind kind, Duration duration) {
        return new Fault(kind, duration, "", 0, 1);
    }

    /** {@return a connection that breaks before the request reaches the server} */
    public static Fault cutBeforeRequest() {
        return of(Kind.CUT_BEFORE_REQUEST, Duration.ZERO);
    }

    /**
     * {@return a connection that breaks when the server has done what was asked} It breaks as soon as the server is
     * ready for the next request, so what it has done is committed, unless a transaction was begun before.
     */
    public static Fault cutBeforeReply() {
        return of(Kind.CUT_BEFORE_REPLY, Duration.ZERO);
    }

    /**
     * {@return a network that holds the request back for this long} Then the server gets it all the same, also if its
     * client has given up by then: that is how statements come to be executed late.
     *
     * @param duration how long, zero or more
     */
    public static Fault stall(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("duration is " + duration + "; give zero or more");
        }
        return of(Kind.STALL, duration);
    }

    /**
     * {@return a connection that goes dead without a word} Neither side gets anything any more, nor is told that the
     * other is gone; the server never sees the request.
     */
    public static Fault halfOpen() {
        return of(Kind.HALF_OPEN, Duration.ZERO);
    }

    /**
     * {@return the same, only for requests with a statement whose text has this part} A statement that the driver has
     * prepared on the server is known by the text that it was prepared with.
     *
     * @param text a part of the statement's text, in any case of letters
     */
    public Fault onStatement(String text) {
        return new Fault(kind, duration, text.toLowerCase(Locale.ROOT), skipped, times);
    }

    /**
     * {@return the same, after this many exchanges that it would have struck}
     *
     * @param exchanges how many are left alone first, from 0
     */
    public Fault skipping(int exchanges) {
        if (exchanges < 0) {
            throw new IllegalArgumentException("exchanges is " + exchanges + "; give 0 or more");
        }
        return new Fault(kind, duration, part, exchanges, times);
    }

    /**
     * {@return the same, for this many exchanges in a row}
     *
     * @param exchanges how many are struck, from 1
     */
    public Fault times(int exchanges) {
        if (exchanges < 1) {
            throw new IllegalArgumentException("exchanges is " + exchanges + "; give 1 or more");
        }
        return new Fault(kind, duration, part, skipped, exchanges);
    }

    Kind kind() {
        return kind;
    }

    Duration duration() {
        return duration;
    }

    int skipped() {
        return skipped;
    }

    int times() {
        return times;
    }

    boolean concerns(String statements) {
        return statements.toLowerCase(Locale.ROOT).contains(part);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Fault fault
                && kind == fault.kind
                && duration.equals(fault.duration)
                && part.equals(fault.part)
                && skipped == fault.skipped
                && times == fault.times;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, duration, part, skipped, times);
    }

    @Override
    public String toString() {
        String what = kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return what
                + (kind == Kind.STALL ? " for " + duration : "")
                + (part.isEmpty() ? "" : " on \"" + part + "\"")
                + (skipped == 0 ? "" : " after " + skipped)
                + (times == 1 ? "" : ", " + times + " times");
    }
}
