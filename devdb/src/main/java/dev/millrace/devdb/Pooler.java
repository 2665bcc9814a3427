package dev.millrace.devdb;

import java.util.Locale;

/** What stands between clients and the server. */
enum Pooler {
    /** Nothing: clients connect to the server itself. */
    NONE,
    /** A PgBouncer in transaction mode. */
    PGBOUNCER;

    /** The name as settings and messages have it. */
    String settingName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The server as clients see it. If that fails, the server is closed. */
    Server inFrontOf(Server server) {
        return switch (this) {
            case NONE -> server;
            case PGBOUNCER -> PooledServer.start(server);
        };
    }
}
