package dev.millrace.devdb;

import dev.millrace.db.Migrator;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes databases for test classes on one server: a template for each schema name, migrated once, and copies of it.
 *
 * <p>Nobody may connect to a template once it is made. PostgreSQL copies a database only while nobody is in it, and
 * autovacuum would otherwise look in.
 */
final class TestDatabases {

    private static final Logger LOG = LoggerFactory.getLogger(TestDatabases.class);
    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    private final DevDatabase server;
    private final TestRole role;

    /** Several JVMs may use one given server at the same time. */
    private final String prefix = "millrace_test_"
            + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt()) + "_";

    private final AtomicInteger counter = new AtomicInteger();
    private final String owner = prefix + "owner";
    private final String ownerPassword = UUID.randomUUID().toString();

    /** By schema name; empty where databases can't be created. */
    private final ConcurrentHashMap<String, Optional<Database>> templates = new ConcurrentHashMap<>();

    TestDatabases(DevDatabase server, TestRole role) {
        this.server = server;
        this.role = role;
        if (role == TestRole.OWNER) {
            execute("CREATE ROLE " + Identifiers.quote(owner) + " LOGIN PASSWORD '" + ownerPassword + "'");
            execute("ALTER ROLE " + Identifiers.quote(owner) + " SET search_path = ''");
        }
    }

    TestDatabase create(String schema) {
        return templates
                .computeIfAbsent(schema, this::createTemplate)
                .map(template -> copyOf(template, schema))
                .orElseGet(() -> schemaInGivenDatabase(schema));
    }

    /** Drops the templates, and ends the server if it was started here. */
    void close() {
        if (server.provider() == Provider.URL) {
            templates.values().stream().flatMap(Optional::stream).forEach(template -> {
                execute("ALTER DATABASE " + Identifiers.quote(template.name()) + " IS_TEMPLATE false");
                template.drop();
            });
            if (role == TestRole.OWNER) {
                execute("DROP ROLE " + Identifiers.quote(owner));
            }
        }
        server.close();
    }

    private Optional<Database> createTemplate(String schema) {
        String name = prefix + "template_" + counter.incrementAndGet();
        try (Connection connection = server.server().coordinates().connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + Identifiers.quote(name)
                    + " ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        } catch (SQLException e) {
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState()) && role == TestRole.SERVER) {
                LOG.info(
                        "{} may not create databases: each test class gets a schema of its own instead", server.user());
                return Optional.empty();
            }
            throw new DevDatabaseException("Database " + name + " could not be created: " + e.getMessage(), e);
        }
        Database template = direct(name);
        try {
            fill(template, schema);
        } catch (RuntimeException e) {
            template.drop();
            throw e;
        }
        return Optional.of(template);
    }

    private void fill(Database template, String schema) {
        if (role == TestRole.OWNER) {
            leaveOnlyToOwner(template);
            execute(template, "DROP SCHEMA public CASCADE");
            execute(
                    template,
                    "CREATE SCHEMA " + Identifiers.quote(schema) + " AUTHORIZATION " + Identifiers.quote(owner));
        }
        Migrator.of(forTests(template).dataSource(), schema).migrate();
        execute("ALTER DATABASE " + Identifiers.quote(template.name())
                + " WITH IS_TEMPLATE true ALLOW_CONNECTIONS false");
    }

    private TestDatabase copyOf(Database template, String schema) {
        Database copy = direct(prefix + counter.incrementAndGet());
        execute("CREATE DATABASE " + Identifiers.quote(copy.name()) + " TEMPLATE "
                + Identifiers.quote(template.name()));
        if (role == TestRole.OWNER) {
            leaveOnlyToOwner(copy); // privileges on a database are not copied with it
        }
        Runnable drop = Settings.refusesStrays() ? dropAndRefuseStrays(copy, schema) : copy::drop;
        return new TestDatabase(server, forTests(server.database(copy.name())), copy, schema, drop);
    }

    private static Runnable dropAndRefuseStrays(Database database, String schema) {
        Strays strays = Strays.watch(database, schema);
        return () -> {
            Set<String> found = strays.found();
            database.drop();
            if (!found.isEmpty()) {
                throw new DevDatabaseException(
                        "The tests have left something outside of their schema: " + String.join(", ", found)
                                + ". Nothing of Millrace belongs there; a test that makes something itself drops it.");
            }
        };
    }

    /** Past any pooler, which would keep sessions open in what is to be copied or changed. */
    private Database direct(String name) {
        Coordinates coordinates = server.server().coordinates();
        return new Database(name, coordinates.inDatabase(name), coordinates);
    }

    private Database forTests(Database database) {
        return role == TestRole.OWNER ? database.as(owner, ownerPassword) : database;
    }

    private void leaveOnlyToOwner(Database database) {
        execute("REVOKE ALL ON DATABASE " + Identifiers.quote(database.name()) + " FROM PUBLIC");
        execute("GRANT CONNECT ON DATABASE " + Identifiers.quote(database.name()) + " TO " + Identifiers.quote(owner));
    }

    private TestDatabase schemaInGivenDatabase(String wanted) {
        String suffix = "_" + prefix + counter.incrementAndGet();
        String schema = cut(wanted, 63 - suffix.length()) + suffix;
        Coordinates coordinates = server.server().coordinates();
        Migrator.of(coordinates.dataSource(), schema).migrate();
        String name = coordinates.databaseName();
        return new TestDatabase(
                server,
                server.database(name),
                direct(name),
                schema,
                () -> execute("DROP SCHEMA " + Identifiers.quote(schema) + " CASCADE"));
    }

    private static String cut(String name, int bytes) {
        String cut = name;
        while (cut.getBytes(StandardCharsets.UTF_8).length > bytes) {
            cut = cut.substring(0, cut.offsetByCodePoints(cut.length(), -1));
        }
        return cut;
    }

    private void execute(String sql) {
        execute(server.server().coordinates(), sql);
    }

    private static void execute(Database database, String sql) {
        execute(database.coordinates(), sql);
    }

    private static void execute(Coordinates where, String sql) {
        try (Connection connection = where.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new DevDatabaseException("Failed: " + sql + ": " + e.getMessage(), e);
        }
    }
}
