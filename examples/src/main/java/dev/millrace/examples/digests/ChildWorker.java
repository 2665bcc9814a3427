package dev.millrace.examples.digests;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The parent's side of a {@link WorkerProcess}. The process ends with this one, whichever way this one ends. */
final class ChildWorker implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 30;

    private final String name;
    private final Process process;

    private ChildWorker(String name, Process process) {
        this.name = name;
        this.process = process;
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "end-" + name));
    }

    /**
     * Starts a process that waits for {@link #go}.
     *
     * @param slots how many jobs it runs at a time
     * @param atLeast how long each takes at least
     */
    static ChildWorker start(String name, int slots, Duration atLeast, DemoPool database) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Dorg.jooq.no-logo=true",
                "-Dorg.jooq.no-tips=true",
                "-cp",
                System.getProperty("java.class.path"),
                WorkerProcess.class.getName(),
                name,
                Integer.toString(slots),
                Long.toString(atLeast.toMillis())));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(Redirect.INHERIT).redirectError(Redirect.INHERIT);
        // Not as arguments, which every user of the machine can read.
        builder.environment().put(WorkerProcess.URL, database.url());
        builder.environment().put(WorkerProcess.USER, database.user());
        builder.environment().put(WorkerProcess.PASSWORD, database.password());
        return new ChildWorker(name, builder.start());
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    /** Lets the worker claim jobs. */
    void go() throws IOException {
        order(WorkerProcess.GO);
    }

    /** Kills the process without warning, by SIGKILL where there are signals. Returns its exit code. */
    int kill() throws InterruptedException {
        process.destroyForcibly();
        return process.waitFor();
    }

    /** Fails if the process has ended by itself. */
    void checkAlive() throws DemoFailedException {
        if (!process.isAlive()) {
            throw new DemoFailedException(name + " has ended unexpectedly with exit code " + process.exitValue()
                    + "; what it had to say is above.");
        }
    }

    /** Lets the worker close in order, and waits until the process has ended; kills it if that takes too long. */
    @Override
    public void close() throws IOException, InterruptedException {
        if (process.isAlive()) {
            order(WorkerProcess.STOP);
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                kill();
            }
        }
    }

    private void order(String order) throws IOException {
        OutputStream orders = process.getOutputStream();
        orders.write((order + "\n").getBytes(StandardCharsets.UTF_8));
        orders.flush();
    }
}
