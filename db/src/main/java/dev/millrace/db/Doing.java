package dev.millrace.db;

/** What a step is about, for messages and for the privilege that it takes. */
enum Doing {
    CONNECTING("connect to the database of"),
    READING("read the history of"),
    CREATING("create"),
    MIGRATING("migrate");

    private final String words;

    Doing(String words) {
        this.words = words;
    }

    String words() {
        return words;
    }
}
