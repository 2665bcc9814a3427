package dev.millrace.devdb;

import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** A server in a container that Testcontainers runs. */
final class ContainerServer implements Server {

    private final PostgreSQLContainer<?> container;
    private final Coordinates coordinates;
    private final String summary;

    private ContainerServer(PostgreSQLContainer<?> container, String image) {
        this.container = container;
        this.coordinates = new Coordinates(container.getJdbcUrl(), container.getUsername(), container.getPassword());
        this.summary =
                "PostgreSQL " + coordinates.serverVersion() + " in a container of " + image + " on port " + port();
    }

    static ContainerServer start(String image, Flushing flushing) {
        PostgreSQLContainer<?> container = container(image, flushing);
        try {
            container.start();
            return new ContainerServer(container, image);
        } catch (RuntimeException e) {
            // Testcontainers throws whatever it comes across: no engine, no image, no start in time.
            container.close();
            throw new DevDatabaseException(
                    "A container of " + image + " could not be started (" + reasonOf(e) + "). Check the Docker engine"
                            + " and the setting " + Settings.IMAGE + ", or set " + Settings.PROVIDER + " to embedded.",
                    e);
        }
    }

    private static PostgreSQLContainer<?> container(String image, Flushing flushing) {
        PostgreSQLContainer<?> container =
                new PostgreSQLContainer<>(DockerImageName.parse(image).asCompatibleSubstituteFor("postgres"));
        // The same as the embedded server. Testcontainers' own command turns fsync off.
        container
                .withDatabaseName("postgres")
                .withUsername("postgres")
                .withPassword("postgres")
                .withEnv("POSTGRES_INITDB_ARGS", "--locale=C --encoding=UTF8")
                .withCommand(
                        "postgres",
                        "-c",
                        "max_connections=" + EmbeddedServer.MAX_CONNECTIONS,
                        "-c",
                        "fsync=" + flushing.setting());
        return container;
    }

    private static String reasonOf(RuntimeException failure) {
        Throwable cause = failure instanceof ContainerLaunchException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    }

    @Override
    public Provider provider() {
        return Provider.TESTCONTAINERS;
    }

    @Override
    public Coordinates coordinates() {
        return coordinates;
    }

    @Override
    public String summary() {
        return summary;
    }

    @Override
    public int port() {
        return container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT);
    }

    @Override
    public void stop(StopMode mode) {
        throw new ServerNotControllableException(
                provider(),
                "A container gets another port when it is started again, so it is not stopped here. Use"
                        + " DevDatabase.start(Provider.EMBEDDED) where a test stops its server.");
    }

    @Override
    public void startAgain() {
        stop(StopMode.FAST);
    }

    @Override
    public boolean isRunning() {
        return container.isRunning();
    }

    @Override
    public void close() {
        container.close();
    }
}
