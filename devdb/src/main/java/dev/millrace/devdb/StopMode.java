package dev.millrace.devdb;

import java.util.Locale;

/** How {@link DevDatabase#stop(StopMode)} ends the server. */
public enum StopMode {
    /** Sessions are ended, their transactions rolled back, everything is written out: an orderly restart. */
    FAST,
    /** The processes end at once and nothing is written out: a crash. The next start recovers from the log. */
    IMMEDIATE;

    String pgCtlName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
