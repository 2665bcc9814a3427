package dev.millrace.db;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A node's process. Each line of its standard input is an order to migrate: URL, user, password, and the last version that
 * it shall know, with tabs between them. It answers with a line, and ends with its input.
 */
final class MigratingProcess {
    static final String READY = "ready";

    /** Short, so that a node is seen to give up waiting for a lock, and often, so that it does not give up the migration. */
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(300);

    private static final int LOCK_ATTEMPTS = 100;

    private MigratingProcess() {}

    public static void main(String[] args) throws Exception {
        System.out.println(READY);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String order;
        while ((order = orders.readLine()) != null) {
            System.out.println(migrate(order.split("\t", -1)));
        }
    }

    static String order(PGSimpleDataSource database, String lastVersion) {
        return String.join("\t", database.getURL(), database.getUser(), database.getPassword(), lastVersion);
    }

    private static String migrate(String[] words) {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(words[0]);
        database.setUser(words[1]);
        database.setPassword(words[2]);
        try {
            MigrationReport report = Migrator.of(database, "millrace", MigratorLocksTest.WITH_LATER, words[3])
                    .lockTimeout(LOCK_TIMEOUT)
                    .lockAttempts(LOCK_ATTEMPTS)
                    .migrate();
            return report.versionBefore() + " " + report.versionAfter() + " " + report.appliedCount();
        } catch (RuntimeException e) {
            return "failed " + e;
        }
    }
}
