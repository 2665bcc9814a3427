package dev.millrace.process;

import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The parent's side of a child process. The child does not outlive its parent: it ends when its input does, it is killed
 * by {@link #close} and when this JVM ends in order, and a frozen one thaws when its parent is gone.
 */
final class ChildJvm implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String title;
    private final Process process;
    private final Thread hook;
    private final List<Thread> readers = new ArrayList<>();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<String> output = new CopyOnWriteArrayList<>();
    private final AtomicInteger questions = new AtomicInteger();
    private @Nullable Freezer freezer;

    private ChildJvm(String title, Process process) {
        this.title = title;
        this.process = process;
        this.hook = new Thread(this::sendKill);
        Runtime.getRuntime().addShutdownHook(hook);
        read(process.getInputStream(), events);
        read(process.getErrorStream(), output);
    }

    /** Starts a process; {@link #awaitReady} tells when it takes orders. */
    static ChildJvm start(Class<?> main, Place place, String... arguments) {
        return start(main, System.getProperty("java.class.path"), place, arguments);
    }

    /** The same, with another class path: that of another build. */
    static ChildJvm start(Class<?> main, String classPath, Place place, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-Dorg.jooq.no-logo=true",
                "-Dorg.jooq.no-tips=true",
                "-cp",
                classPath,
                main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(place.environment());
        try {
            return new ChildJvm(main.getSimpleName() + " " + String.join(" ", arguments), builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ChildJvm awaitReady() {
        awaitEvent(ChildSide.READY);
        return this;
    }

    void order(String order) {
        try {
            OutputStream input = process.getOutputStream();
            input.write((order + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " takes no orders.", e);
        }
    }

    /** Asks a question and returns the words of its answer, the question's own two left out. */
    String[] ask(String question) {
        String numbered = question + " " + questions.incrementAndGet();
        order(numbered);
        return awaitEvent(numbered).substring(numbered.length() + 1).split(" ", -1);
    }

    /** Waits for the first event that is this, or goes on behind these words. */
    String awaitEvent(String words) {
        try {
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> !events(words).isEmpty() || !process.isAlive());
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("Waited in vain for \"" + words + "\" of " + this, e);
        }
        if (!process.isAlive()) {
            awaitExit();
        }
        return events(words).stream()
                .findFirst()
                .orElseThrow(() -> new AssertionError("Ended without \"" + words + "\": " + this));
    }

    /** All events so far that are this, or go on behind these words. */
    List<String> events(String words) {
        return events.stream()
                .filter(event -> event.equals(words) || event.startsWith(words + " "))
                .toList();
    }

    boolean alive() {
        return process.isAlive();
    }

    /** The process gets no more time. */
    void freeze() {
        freezer = Freezer.freeze(List.of(process.toHandle()));
    }

    /** It goes on where it was. */
    void thaw() {
        Freezer its = freezer;
        if (its != null) {
            freezer = null;
            its.close();
        }
    }

    /** SIGKILL, and waits for the end. What the process has said by then can be read. */
    void kill() {
        sendKill();
        awaitExit();
    }

    /** SIGTERM. */
    void terminate() {
        process.toHandle().destroy(); // the process's own method would close its streams as well
    }

    private void sendKill() {
        process.toHandle().destroyForcibly();
    }

    /** Waits for the end, and returns the exit code. */
    int awaitExit() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("Did not end in time: " + this);
            }
            for (Thread reader : readers) {
                reader.join(PATIENCE.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while waiting for the end of " + this, e);
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        kill();
        thaw();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            sendKill(); // this JVM is ending, and the hook does the same
        }
    }

    @Override
    public String toString() {
        return title + " (pid " + process.pid() + ", " + (process.isAlive() ? "alive" : "exit " + process.exitValue())
                + ")\n  events: " + events + "\n  output: " + String.join("\n    ", output);
    }

    private void read(InputStream stream, List<String> lines) {
        Thread reader = new Thread(() -> {
            try (BufferedReader text = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                text.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException e) {
                lines.add("(" + e + ")");
            }
        });
        reader.setDaemon(true);
        reader.start();
        readers.add(reader);
    }
}
