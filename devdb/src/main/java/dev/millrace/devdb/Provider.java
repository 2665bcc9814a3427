package dev.millrace.devdb;

import java.util.Locale;

/** Where a {@link DevDatabase} comes from. */
public enum Provider {
    /** A server that runs already, named by a JDBC URL. It is used and left running. */
    URL,
    /** A container that Testcontainers starts, and ends with the {@link DevDatabase}. Needs a Docker engine. */
    TESTCONTAINERS,
    /** A server of this machine, unpacked and run from a library. It can be stopped and started again. */
    EMBEDDED;

    /** The name as settings and messages have it. */
    String settingName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
