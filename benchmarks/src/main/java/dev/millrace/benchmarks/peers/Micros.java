package dev.millrace.benchmarks.peers;

import java.time.Instant;

/** Time that processes of one machine have in common: microseconds since 1970. */
public final class Micros {
    private Micros() {}

    /** {@return what it is now} */
    public static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }
}
