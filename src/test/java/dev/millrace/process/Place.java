package dev.millrace.process;

import dev.millrace.devdb.DevDatabase;
import dev.millrace.devdb.TestDatabase;
import java.util.Map;

/** The schema that a test shares with its child processes, and how to connect to it. */
record Place(String url, String user, String password, String schema) {
    private static final String URL = "MILLRACE_PROCESS_URL";
    private static final String USER = "MILLRACE_PROCESS_USER";
    private static final String PASSWORD = "MILLRACE_PROCESS_PASSWORD";
    private static final String SCHEMA = "MILLRACE_PROCESS_SCHEMA";

    static Place of(TestDatabase database) {
        return new Place(database.jdbcUrl(), database.user(), database.password(), database.schema());
    }

    static Place of(DevDatabase server, String schema) {
        return new Place(server.jdbcUrl(), server.user(), server.password(), schema);
    }

    /** Of this process, as its parent has set it. */
    static Place ofEnvironment() {
        Map<String, String> variables = System.getenv();
        return new Place(variables.get(URL), variables.get(USER), variables.get(PASSWORD), variables.get(SCHEMA));
    }

    /** Not as arguments, which every user of the machine can read. */
    Map<String, String> environment() {
        return Map.of(URL, url, USER, user, PASSWORD, password, SCHEMA, schema);
    }
}
