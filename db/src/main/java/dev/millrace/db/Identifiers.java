package dev.millrace.db;

/** Names as SQL has them, in statements and in what messages propose to run. */
final class Identifiers {

    private Identifiers() {}

    static String quoted(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }
}
