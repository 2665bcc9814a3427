package dev.millrace.process;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** Pools of connections. */
final class Pools {
    static final String TARDY = "tardy";

    private static final int SIZE = 8;
    private static final long PATIENCE_MILLIS = 1_000;
    private static final long AT_ONCE_MILLIS = 20;
    private static final long LATER_MILLIS = 300;

    private Pools() {}

    /**
     * A pool that notices the end of an outage at once: for jobs with heartbeat timeouts of a second or so. HikariCP by
     * itself pauses longer and longer between two attempts to connect, up to 5 s, and a worker that can't be reached by
     * then is silent for as long.
     */
    static HikariDataSource quick(Place place) {
        return knocking(place, AT_ONCE_MILLIS, "quick");
    }

    /** The same, but it notices a little later than a quick one. The server knows its sessions by {@link #TARDY}. */
    static HikariDataSource tardy(Place place) {
        return knocking(place, LATER_MILLIS, TARDY);
    }

    private static HikariDataSource knocking(Place place, long everyMillis, String name) {
        Knocking connections = new Knocking(everyMillis, PATIENCE_MILLIS);
        connections.setApplicationName(name);
        connections.setUrl(place.url());
        connections.setUser(place.user());
        connections.setPassword(place.password());
        HikariConfig config = new HikariConfig();
        config.setDataSource(connections);
        config.setMaximumPoolSize(SIZE);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(PATIENCE_MILLIS);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    /** A pool as most people have it: all that is set is where to connect, and as whom. */
    static HikariDataSource usual(Place place) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(place.url());
        config.setUsername(place.user());
        config.setPassword(place.password());
        return new HikariDataSource(config);
    }
}
