package dev.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.Database;
import dev.millrace.devdb.DevDatabase;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs an example as its user would: as a process of its own. All of them share one server, and none a database. */
public final class Program {
    private static final DevDatabase SERVER = DevDatabase.start();
    private static final AtomicInteger DATABASES = new AtomicInteger();
    private static final long PATIENCE_SECONDS = 180;

    private Program() {}

    /** What a program left behind. */
    public record Result(int exitCode, String out, String err) {
        /** Fails, with all that was printed, unless it is this exit code. */
        public Result hasExitCode(int expected) {
            assertThat(exitCode)
                    .as("exit code; the program printed%n%s%nand as errors%n%s", out, err)
                    .isEqualTo(expected);
            return this;
        }
    }

    public static Result run(Class<?> main, String... args) throws IOException, InterruptedException {
        Path out = Files.createTempFile("example", ".out");
        Path err = Files.createTempFile("example", ".err");
        try {
            Process process = new ProcessBuilder(command(main, args))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
            }
            return new Result(process.exitValue(), read(out), read(err));
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }

    /** A new, empty database. */
    public static Database database() {
        return SERVER.createDatabase("example_" + DATABASES.incrementAndGet());
    }

    /** The command that runs this class on a database of its own. */
    public static List<String> command(Class<?> main, String... args) {
        Database database = database();
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Dmillrace.devdb=url",
                "-Dmillrace.devdb.url=" + database.jdbcUrl(),
                "-Dmillrace.devdb.user=" + database.user(),
                "-Dmillrace.devdb.password=" + database.password(),
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(args));
        return command;
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.UTF_8);
    }
}
