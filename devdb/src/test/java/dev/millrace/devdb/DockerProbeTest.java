package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
class DockerProbeTest {

    private static final Duration BOUND = Duration.ofSeconds(5);

    @TempDir
    private Path folder;

    @Test
    void engineAnswers_onASocketThatAnswers_isTrue() throws IOException {
        Path socket = folder.resolve("docker.sock");
        try (ServerSocketChannel engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            engine.bind(UnixDomainSocketAddress.of(socket));
            Thread thread = new Thread(() -> answerOnce(engine));
            thread.start();

            assertThat(DockerProbe.engineAnswers("unix://" + socket, null)).isTrue();
        }
    }

    @Test
    void engineAnswers_onASocketThatStaysSilent_isFalseInTime() throws IOException {
        Path socket = folder.resolve("docker.sock");
        try (ServerSocketChannel engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            engine.bind(UnixDomainSocketAddress.of(socket));
            long start = System.nanoTime();

            assertThat(DockerProbe.engineAnswers("unix://" + socket, null)).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BOUND);
        }
    }

    @Test
    void engineAnswers_onAPortThatStaysSilent_isFalseInTime() throws IOException {
        try (ServerSocket engine = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            long start = System.nanoTime();

            assertThat(DockerProbe.engineAnswers("tcp://127.0.0.1:" + engine.getLocalPort(), null))
                    .isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BOUND);
        }
    }

    @Test
    void engineAnswers_onALeftOverSocketFile_isFalse() throws IOException {
        Path socket = folder.resolve("docker.sock");
        ServerSocketChannel gone = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        gone.bind(UnixDomainSocketAddress.of(socket));
        gone.close();

        assertThat(Files.exists(socket)).isTrue();
        assertThat(DockerProbe.engineAnswers("unix://" + socket, null)).isFalse();
    }

    @Test
    void engineAnswers_withoutAnySocket_isFalse() {
        assumeThat(Files.exists(Path.of("/var/run/docker.sock"))).isFalse();

        assertThat(DockerProbe.engineAnswers(null, folder.toString())).isFalse();
    }

    @Test
    void engineAnswers_onAnAddressThatCannotBeUnderstood_isFalse() {
        assertThat(DockerProbe.engineAnswers("not an address", null)).isFalse();
        assertThat(DockerProbe.engineAnswers("npipe:////./pipe/docker_engine", null))
                .isFalse();
    }

    private static void answerOnce(ServerSocketChannel engine) {
        try (SocketChannel client = engine.accept()) {
            int read = client.read(ByteBuffer.allocate(1024));
            if (read > 0) {
                client.write(ByteBuffer.wrap("HTTP/1.1 200 OK\r\n\r\nOK".getBytes(StandardCharsets.US_ASCII)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
