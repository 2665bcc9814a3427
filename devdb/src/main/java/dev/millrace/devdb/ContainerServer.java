package dev.millrace.devdb;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /**
     * Starts a container, but gives up after a while: an image that can't be pulled would cost Testcontainers minutes.
     * If it comes up later all the same, it is ended.
     */
    static ContainerServer startWithin(Duration patience, String image, Flushing flushing) {
        CompletableFuture<ContainerServer> server =
                CompletableFuture.supplyAsync(() -> start(image, flushing), ContainerServer::runOnDaemonThread);
        try {
            return server.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            closeLater(server);
            throw new DevDatabaseException(
                    "a container of " + image + " was not up within " + patience.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new DevDatabaseException("a container of " + image + " could not be started", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closeLater(server);
            throw new DevDatabaseException("Interrupted while a container of " + image + " was starting.", e);
        }
    }

    private static void closeLater(CompletableFuture<ContainerServer> server) {
        CompletableFuture<Void> unused = server.thenAccept(ContainerServer::close);
    }

    private static void runOnDaemonThread(Runnable work) {
        Thread thread = new Thread(work, "millrace-devdb-container");
        thread.setDaemon(true);
        thread.start();
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
