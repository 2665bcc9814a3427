package dev.millrace.devdb;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out within a few seconds whether a Docker engine answers.
 *
 * <p>Testcontainers would find out too, but takes its time when there is none. So this asks first, where an engine is
 * usually found: {@code DOCKER_HOST}, else the sockets of Docker and of Docker Desktop. On Windows that means
 * {@code DOCKER_HOST} only; without it, ask for containers with the setting {@code millrace.devdb}.
 */
final class DockerProbe {

    private static final Logger LOG = LoggerFactory.getLogger(DockerProbe.class);
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final byte[] PING =
            "GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private DockerProbe() {}

    static boolean engineAnswers() {
        return engineAnswers(System.getenv("DOCKER_HOST"), System.getProperty("user.home"));
    }

    static boolean engineAnswers(@Nullable String dockerHost, @Nullable String home) {
        return candidates(dockerHost, home).stream().anyMatch(DockerProbe::answers);
    }

    private static List<SocketAddress> candidates(@Nullable String dockerHost, @Nullable String home) {
        if (dockerHost != null && !dockerHost.isEmpty()) {
            return fromDockerHost(dockerHost);
        }
        List<SocketAddress> sockets = new ArrayList<>();
        addIfPresent(sockets, Path.of("/var/run/docker.sock"));
        if (home != null) {
            addIfPresent(sockets, Path.of(home, ".docker", "run", "docker.sock"));
        }
        return sockets;
    }

    private static List<SocketAddress> fromDockerHost(String dockerHost) {
        try {
            URI uri = URI.create(dockerHost);
            if ("unix".equals(uri.getScheme())) {
                return List.of(UnixDomainSocketAddress.of(uri.getPath()));
            }
            if (uri.getHost() != null && uri.getPort() > 0) {
                return List.of(new InetSocketAddress(uri.getHost(), uri.getPort()));
            }
        } catch (IllegalArgumentException e) {
            LOG.debug("DOCKER_HOST can't be understood: {}", dockerHost, e);
        }
        return List.of();
    }

    private static void addIfPresent(List<SocketAddress> sockets, Path path) {
        if (Files.exists(path)) {
            sockets.add(UnixDomainSocketAddress.of(path));
        }
    }

    /** Asked on a thread of its own, because neither connecting nor reading on such a socket has a time limit. */
    private static boolean answers(SocketAddress address) {
        try (SocketChannel channel = open(address)) {
            FutureTask<Boolean> ping = new FutureTask<>(() -> ping(channel, address));
            Thread thread = new Thread(ping, "millrace-devdb-docker-probe");
            thread.setDaemon(true);
            thread.start();
            return ping.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (IOException | ExecutionException | TimeoutException e) {
            LOG.debug("No Docker engine answered at {}", address, e);
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static SocketChannel open(SocketAddress address) throws IOException {
        return address instanceof UnixDomainSocketAddress
                ? SocketChannel.open(StandardProtocolFamily.UNIX)
                : SocketChannel.open();
    }

    /** Any answer in HTTP will do: an engine behind TLS answers a plain question with an error, but it is there. */
    private static boolean ping(SocketChannel channel, SocketAddress address) throws IOException {
        channel.connect(address);
        channel.write(ByteBuffer.wrap(PING));
        ByteBuffer start = ByteBuffer.allocate(5);
        while (start.hasRemaining()) {
            if (channel.read(start) < 0) {
                return false;
            }
        }
        return new String(start.array(), StandardCharsets.US_ASCII).equals("HTTP/");
    }
}
