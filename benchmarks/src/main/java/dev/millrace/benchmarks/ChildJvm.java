package dev.millrace.benchmarks;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A process of its own, for workers that are killed or are several. It should end when its standard input does, which is
 * when this JVM ends: {@link #awaitEndOfParent()} is for its {@code main}.
 */
public final class ChildJvm implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private ChildJvm(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "child-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts one.
     *
     * @param main its class
     * @param options of the JVM, such as {@code -Xmx256m}
     * @param environment where its database is: not as arguments, which every user of the machine can read
     */
    public static ChildJvm start(Class<?> main, List<String> options, Map<String, String> environment)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command(main, options, List.of())).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return new ChildJvm(builder.start());
    }

    /**
     * {@return the command that runs a class in a JVM like this one, with the same class path}
     *
     * @param main the class
     * @param options of the JVM
     * @param arguments of the program
     */
    public static List<String> command(Class<?> main, List<String> options, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of("-Dorg.jooq.no-logo=true", "-Dorg.jooq.no-tips=true"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        return command;
    }

    /** For a child: returns when its parent has ended, or has closed it. */
    public static void awaitEndOfParent() throws IOException {
        System.in.transferTo(OutputStream.nullOutputStream());
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            output.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("(" + e.getMessage() + ")");
        }
    }

    /**
     * Waits until it has printed a line that begins like this.
     *
     * @return the line
     */
    public String awaitLine(String beginning) throws InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() < deadline) {
            boolean alive = process.isAlive();
            for (String line : lines) {
                if (line.startsWith(beginning)) {
                    return line;
                }
            }
            if (!alive) {
                break;
            }
            Thread.sleep(5);
        }
        throw new TimeoutException("No line began with \"" + beginning + "\" in the output of process " + process.pid()
                + ": " + String.join("\n", lines));
    }

    /** {@return what it has printed so far} */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** {@return whether it runs} */
    public boolean alive() {
        return process.isAlive();
    }

    /** Ends it as {@code kill -9} does, and waits for that. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Closes its standard input, gives it time to end, and kills it if it does not. */
    @Override
    public void close() throws InterruptedException {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            process.destroyForcibly(); // it has ended, or will
        }
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            kill();
        }
    }
}
