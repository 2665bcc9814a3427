package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.condition.OS.LINUX;
import static org.junit.jupiter.api.condition.OS.MAC;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** What becomes of an embedded server when its JVM ends without closing it. */
@Timeout(120)
class EndOfJvmTest {

    /** The program of the other JVM. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws InterruptedException, SQLException {
            DevDatabase server = DevDatabase.start(Provider.EMBEDDED);
            if (arguments[0].equals("two")) {
                DevDatabase.start(Provider.EMBEDDED);
            }
            int port = arguments[0].startsWith("pooler")
                    ? server.dataSource().unwrap(PGSimpleDataSource.class).getPortNumbers()[0]
                    : server.port();
            System.out.println("port " + port);
            switch (arguments[0]) {
                case "return", "pooler-return" -> {}
                case "exit" -> System.exit(3);
                case "throw" -> throw new IllegalStateException("on purpose");
                default -> Thread.sleep(Duration.ofMinutes(5).toMillis());
            }
        }
    }

    /** One for all tests, so that the programs are unpacked once. */
    @TempDir
    private static Path folder;

    @Test
    void jvm_thatReturnsFromMain_leavesNoServerBehind() throws Exception {
        assertEndsCleanly("return", 0);
    }

    @Test
    void jvm_thatCallsExit_leavesNoServerBehind() throws Exception {
        assertEndsCleanly("exit", 3);
    }

    @Test
    void jvm_thatIsTerminated_leavesNoServerBehind() throws Exception {
        Process jvm = launch("wait");
        int port = readPort(jvm);

        jvm.destroy();

        assertThat(jvm.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(listens(port)).isFalse();
        assertThat(serverFolders()).isEmpty();
    }

    @Test
    @EnabledOnOs({LINUX, MAC})
    void jvm_thatIsKilled_leavesAServerThatTheNextStartEnds() throws Exception {
        Process killed = launch("wait");
        int port = readPort(killed);
        killed.destroyForcibly().waitFor();
        assertThat(listens(port)).isTrue();
        List<Path> orphan = serverFolders();
        assertThat(orphan).hasSize(1);

        assertEndsCleanly("return", 0);

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !listens(port));
        assertThat(serverFolders()).isEmpty();
    }

    @Test
    void jvm_thatReturnsFromMain_leavesNoPoolerBehind() throws Exception {
        assumeTrue(PgBouncer.program().isPresent(), "PgBouncer is not installed");

        assertEndsCleanly("pooler-return", 0);
    }

    @Test
    @EnabledOnOs({LINUX, MAC})
    void jvm_thatIsKilled_takesItsPoolerWithIt() throws Exception {
        assumeTrue(PgBouncer.program().isPresent(), "PgBouncer is not installed");
        Process killed = launch("pooler-wait");
        int port = readPort(killed);
        assertThat(listens(port)).isTrue();

        killed.destroyForcibly().waitFor();

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !listens(port));
        assertEndsCleanly("return", 0);
    }

    @Test
    void jvm_thatLives_keepsItsServersWhateverOthersStart() throws Exception {
        Process living = launch("two");
        try {
            int port = readPort(living);

            Process other = launch("return");
            readPort(other);
            assertThat(other.waitFor(60, TimeUnit.SECONDS)).isTrue();

            assertThat(listens(port)).isTrue();
            assertThat(serverFolders()).hasSize(2);
        } finally {
            living.destroy();
            living.waitFor();
        }
        assertThat(serverFolders()).isEmpty();
    }

    private static void assertEndsCleanly(String how, int exitCode) throws Exception {
        Process jvm = launch(how);
        int port = readPort(jvm);
        assertThat(jvm.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(jvm.exitValue()).isEqualTo(exitCode);
        assertThat(listens(port)).isFalse();
        assertThat(serverFolders()).isEmpty();
    }

    /** With a temporary folder of its own, so that it has nothing to do with the servers of this JVM. */
    private static Process launch(String how) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + folder,
                        "-Dmillrace.devdb.pooler=" + (how.startsWith("pooler") ? "pgbouncer" : "none"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        how)
                .redirectError(errors().toFile())
                .start();
    }

    private static Path errors() {
        return folder.resolve("errors.txt");
    }

    private static int readPort(Process jvm) throws IOException {
        BufferedReader output = jvm.inputReader();
        String line = output.readLine();
        assertThat(line).as(Files.readString(errors())).startsWith("port ");
        return Integer.parseInt(line.substring(5));
    }

    private static List<Path> serverFolders() throws IOException {
        try (Stream<Path> tree = Files.walk(folder, 2)) {
            return tree.filter(path -> path.getFileName().toString().startsWith("server-"))
                    .toList();
        }
    }

    private static boolean listens(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (ConnectException e) {
            return false;
        }
    }
}
