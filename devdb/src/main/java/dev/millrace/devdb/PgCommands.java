package dev.millrace.devdb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The server's own programs: {@code initdb} and {@code pg_ctl}. */
final class PgCommands {

    private static final int WAIT_SECONDS = 60;

    private final Path home;

    PgCommands(Path home) {
        this.home = home;
    }

    void initialize(Path data) {
        // No locale of the machine: order, messages and case rules are the same everywhere. The sync at the end of
        // initdb guards against a crash of the operating system, which nobody wants to survive with test data.
        run(
                "initdb",
                List.of("-D", data.toString(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"));
    }

    void start(Path data, Path log) {
        run(
                "pg_ctl",
                List.of(
                        "start",
                        "-D",
                        data.toString(),
                        "-l",
                        log.toString(),
                        "-w",
                        "-t",
                        Integer.toString(WAIT_SECONDS),
                        "-s"));
    }

    void stop(Path data, StopMode mode) {
        run(
                "pg_ctl",
                List.of(
                        "stop",
                        "-D",
                        data.toString(),
                        "-m",
                        mode.pgCtlName(),
                        "-w",
                        "-t",
                        Integer.toString(WAIT_SECONDS),
                        "-s"));
    }

    private void run(String program, List<String> arguments) {
        Path output = null;
        try {
            // A file rather than a pipe: on some systems the server keeps the pipe open, and reading would not end.
            output = Files.createTempFile("millrace-devdb-", ".out");
            Process process = new ProcessBuilder(command(program, arguments))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(2L * WAIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new DevDatabaseException(program + " did not end within " + 2 * WAIT_SECONDS + " seconds.");
            }
            if (process.exitValue() != 0) {
                throw new DevDatabaseException(program + " failed (exit " + process.exitValue() + "): "
                        + Files.readString(output, StandardCharsets.UTF_8).strip());
            }
        } catch (IOException e) {
            throw new DevDatabaseException(program + " could not be run from " + home + ".", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DevDatabaseException("Interrupted while " + program + " was running.", e);
        } finally {
            if (output != null) {
                deleteQuietly(output);
            }
        }
    }

    private List<String> command(String program, List<String> arguments) throws IOException {
        String suffix =
                System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("windows") ? ".exe" : "";
        List<String> command = new ArrayList<>();
        command.add(home.resolve("bin").resolve(program + suffix).toString());
        command.addAll(arguments);
        return Unprivileged.command(command);
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            file.toFile().deleteOnExit();
        }
    }
}
