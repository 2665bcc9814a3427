package dev.millrace.devdb;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.PullImageResultCallback;
import com.github.dockerjava.api.exception.DockerClientException;
import com.github.dockerjava.api.exception.InternalServerErrorException;
import com.github.dockerjava.api.exception.NotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.dockerclient.DockerClientProviderStrategy;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.ImageNameSubstitutor;

/**
 * Pulls an image that the Docker engine does not have.
 *
 * <p>Testcontainers would do it, but where no registry can be reached it goes on trying for minutes, first for a helper
 * of its own and then for the image, although the engine gives its reason at once. So the image is pulled here before
 * Testcontainers is asked for anything, and only once.
 */
final class ContainerImage {

    private static final Logger LOG = LoggerFactory.getLogger(ContainerImage.class);
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private ContainerImage() {}

    /**
     * Leaves an image that its registry doesn't have, or not for this platform, to Testcontainers: that fails at once, or
     * knows a remedy.
     *
     * @throws NoContainerException if there is no engine, the registry can't be reached, or the pull takes too long
     */
    static void pullIfAbsent(String image) {
        String name = ImageNameSubstitutor.instance()
                .apply(DockerImageName.parse(image))
                .asCanonicalNameString();
        try (DockerClient engine = connect()) {
            if (!isPresent(engine, name)) {
                LOG.info("Pulling {}, which the Docker engine does not have yet", name);
                pull(engine, name);
            }
        } catch (NotFoundException | DockerClientException e) {
            LOG.debug("The registry of {} does not give it", name, e);
        } catch (IOException e) {
            LOG.debug("The connection to the Docker engine could not be closed", e);
        } catch (DevDatabaseException e) {
            throw e;
        } catch (RuntimeException e) { // the engine's own refusals, and what goes wrong on the way to it
            throw absent(
                    name, "can't be pulled: " + String.valueOf(e.getMessage()).strip(), e);
        }
    }

    private static DockerClient connect() {
        List<DockerClientProviderStrategy> strategies = new ArrayList<>();
        ServiceLoader.load(DockerClientProviderStrategy.class).forEach(strategies::add);
        try {
            return DockerClientProviderStrategy.getFirstValidStrategy(strategies)
                    .getDockerClient();
        } catch (IllegalStateException e) {
            throw new NoContainerException("Testcontainers finds no Docker engine that it can use", e);
        }
    }

    private static boolean isPresent(DockerClient engine, String name) {
        try {
            engine.inspectImageCmd(name).exec();
            return true;
        } catch (NotFoundException e) {
            return false;
        }
    }

    private static void pull(DockerClient engine, String name) {
        long begin = System.nanoTime();
        try {
            engine.pullImageCmd(name)
                    .exec(new PullImageResultCallback())
                    .awaitCompletion(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (DockerClientException e) {
            // What it throws for a pull that failed, and also for one that is not done yet.
            if (System.nanoTime() - begin < PATIENCE.toNanos()) {
                throw e;
            }
            throw absent(name, "was not pulled within " + PATIENCE.toMinutes() + " min", e);
        } catch (InternalServerErrorException e) {
            throw absent(
                    name, "can't be pulled: " + String.valueOf(e.getMessage()).strip(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DevDatabaseException("Interrupted while " + name + " was pulled.", e);
        }
    }

    private static NoContainerException absent(String name, String andIt, @Nullable Throwable cause) {
        return new NoContainerException("there is no image " + name + ", and it " + andIt, cause);
    }
}
