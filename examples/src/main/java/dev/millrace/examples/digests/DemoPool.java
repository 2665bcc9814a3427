package dev.millrace.examples.digests;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/**
 * A process's pool of connections to the demonstration's database.
 *
 * @param url the JDBC URL
 * @param user who connects
 * @param password the user's password
 */
record DemoPool(String url, String user, String password) {
    /** @param application what the server calls its sessions */
    HikariDataSource open(String application, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setPoolName(application);
        config.setMaximumPoolSize(connections);
        config.addDataSourceProperty("ApplicationName", application);
        return new HikariDataSource(config);
    }
}
