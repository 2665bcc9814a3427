package dev.millrace.store;

import java.time.Instant;

/** The only clock that decides anything: the database's. */
public interface StoreClock {
    /** {@return the database's time, in whole microseconds} */
    Instant now();
}
