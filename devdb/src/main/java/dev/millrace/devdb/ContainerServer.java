package dev.millrace.devdb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.testcontainers.containers.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** A server in a container that Testcontainers runs. */
final class ContainerServer implements Server {

    /** With the image at hand; Testcontainers may have to pull its own helper in that time. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

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
     * Starts a container, but gives up after a while: Testcontainers has no time limit of its own. If the container comes
     * up later all the same, it is ended.
     *
     * @throws NoContainerException if there is none
     */
    static ContainerServer start(String image, Flushing flushing, ServerParameters parameters) {
        ContainerImage.pullIfAbsent(image);
        CompletableFuture<ContainerServer> server = CompletableFuture.supplyAsync(
                () -> run(image, flushing, parameters), ContainerServer::runOnDaemonThread);
        try {
            return server.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            closeLater(server);
            throw new NoContainerException(
                    "a container of " + image + " was not up within " + PATIENCE.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            // Testcontainers throws whatever it comes across: no engine, no image, no start in time.
            throw new NoContainerException(
                    "a container of " + image + " could not be started: " + rootMessage(e), e.getCause());
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

    private static ContainerServer run(String image, Flushing flushing, ServerParameters parameters) {
        PostgreSQLContainer<?> container = container(image, flushing, parameters);
        try {
            container.start();
            return new ContainerServer(container, image);
        } catch (RuntimeException e) {
            container.close();
            throw e;
        }
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage()).strip();
    }

    private static PostgreSQLContainer<?> container(String image, Flushing flushing, ServerParameters parameters) {
        PostgreSQLContainer<?> container =
                new PostgreSQLContainer<>(DockerImageName.parse(image).asCompatibleSubstituteFor("postgres"));
        List<String> command = new ArrayList<>(List.of(
                "postgres",
                "-c",
                "max_connections=" + EmbeddedServer.MAX_CONNECTIONS,
                "-c",
                "fsync=" + flushing.setting()));
        command.addAll(parameters.asArguments());
        // The same as the embedded server. Testcontainers' own command turns fsync off.
        container
                .withDatabaseName("postgres")
                .withUsername("postgres")
                .withPassword("postgres")
                .withEnv("POSTGRES_INITDB_ARGS", "--locale=C --encoding=UTF8")
                .withCommand(command.toArray(String[]::new));
        return container;
    }

    String containerId() {
        return container.getContainerId();
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
