package dev.millrace.devdb;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ports for what is started here: from 20000 to 29999, below what operating systems give to outgoing connections. In
 * that range a client that tries to reconnect while a server is stopped could be given the server's own port, connect to
 * itself, and keep the server from coming back.
 */
final class Ports {

    private static final Logger LOG = LoggerFactory.getLogger(Ports.class);

    private Ports() {}

    /** A port that was free a moment ago. */
    static int free() throws IOException {
        for (int attempt = 0; attempt < 100; attempt++) {
            int candidate = ThreadLocalRandom.current().nextInt(20_000, 30_000);
            try (ServerSocket probe = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
                return probe.getLocalPort();
            } catch (IOException e) {
                LOG.trace("Port {} is taken", candidate);
            }
        }
        throw new IOException("No free port was found between 20000 and 29999.");
    }
}
