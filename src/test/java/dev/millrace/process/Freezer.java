package dev.millrace.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Keeps processes suspended, by SIGSTOP, until it is closed; then, by SIGCONT, they go on where they were. If this process
 * ends first, in whichever way, they go on as well.
 */
final class Freezer implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    /** Reading ends when the other side of the pipe is closed. */
    private static final String SCRIPT = "kill -STOP \"$@\"; echo frozen; read -r _; kill -CONT \"$@\"";

    private final Process shell;

    private Freezer(Process shell) {
        this.shell = shell;
    }

    static Freezer freeze(List<ProcessHandle> processes) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", SCRIPT, "sh"));
        processes.forEach(process -> command.add(Long.toString(process.pid())));
        try {
            Process shell = new ProcessBuilder(command).start();
            String answer = new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            if (!"frozen".equals(answer)) {
                throw new AssertionError("Not frozen: " + processes);
            }
            return new Freezer(shell);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Repeating it does nothing. */
    @Override
    public void close() {
        try {
            shell.getOutputStream().close();
            if (!shell.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("Processes may still be frozen");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the shell goes on all the same
        }
    }
}
