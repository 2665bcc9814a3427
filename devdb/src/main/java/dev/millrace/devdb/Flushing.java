package dev.millrace.devdb;

/**
 * Whether the server waits until what it writes has reached the disk ({@code fsync}). Without, it is as safe when its
 * own processes crash, because what they wrote is with the operating system; only a crash of the machine loses data.
 * But writing is faster than in production, so nothing that is measured there counts.
 */
enum Flushing {
    ON,
    OFF;

    String setting() {
        return this == ON ? "on" : "off";
    }
}
