package dev.millrace.devdb;

/** Names in SQL. */
final class Identifiers {

    private Identifiers() {}

    static String quote(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }
}
