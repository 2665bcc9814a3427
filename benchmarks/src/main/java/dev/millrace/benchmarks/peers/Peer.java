package dev.millrace.benchmarks.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.benchmarks.CheckFailedException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The parent's side of a process of a contender. Commands and their answers:
 *
 * <pre>
 * (none)                          ready
 * work                            working &lt;when it was told to start&gt;, then: count &lt;how many jobs it has run&gt;
 * one from to                     took &lt;microseconds&gt;
 * many from to                    took &lt;microseconds&gt;
 * paced from to meanMillis seed   times [[number, before it was submitted, after], ..]
 * runs                            runs [[number, when its handler began], ..]
 * stop                            stopped
 * </pre>
 *
 * Times are in microseconds since 1970. What else it prints is shown if it fails.
 */
public final class Peer implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 900;
    private static final int LINES_KEPT = 40;
    private static final String END = "(end)";

    private final String name;
    private final Process process;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Deque<String> others = new ConcurrentLinkedDeque<>();
    private final ObjectMapper json = new ObjectMapper();
    private volatile int count;

    private Peer(String name, Process process) {
        this.name = name;
        this.process = process;
        Thread reader = new Thread(this::read, "peer-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts one, and waits until it takes commands.
     *
     * @param name of the contender
     * @param command its program and arguments
     * @param environment where its database is: not as arguments, which every user of the machine can read
     */
    static Peer start(String name, List<String> command, Map<String, String> environment)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Peer peer = new Peer(name, builder.start());
        try {
            peer.answer("ready");
            return peer;
        } catch (RuntimeException | InterruptedException e) {
            peer.process.destroyForcibly();
            throw e;
        }
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            output.lines().forEach(this::take);
        } catch (IOException | UncheckedIOException e) {
            others.add("(" + e.getMessage() + ")");
        }
        answers.add(END);
    }

    private void take(String line) {
        if (line.startsWith("count ")) {
            count = Integer.parseInt(line.substring("count ".length()));
        } else if (line.matches("(ready|working|took|times|runs|stopped)( .*)?")) {
            answers.add(line);
        } else {
            others.add(line);
            if (others.size() > LINES_KEPT) {
                others.poll();
            }
        }
    }

    /** Tells a worker to start, without waiting for that. */
    public void work() throws IOException {
        tell("work");
    }

    /** {@return when it was told to start, once it has} */
    public long started() throws InterruptedException {
        return Long.parseLong(answer("working"));
    }

    /** {@return how many jobs it has run} */
    public int count() {
        if (!process.isAlive()) {
            throw failed("has ended");
        }
        return count;
    }

    /** {@return how long it has kept processors busy; nothing where the system does not tell} */
    public Duration processorTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** {@return how many seconds it took to submit these, each by itself} */
    public double one(int from, int to) throws IOException, InterruptedException {
        tell("one " + from + " " + to);
        return Long.parseLong(answer("took")) / 1e6;
    }

    /** {@return how many seconds it took to submit these together} */
    public double many(int from, int to) throws IOException, InterruptedException {
        tell("many " + from + " " + to);
        return Long.parseLong(answer("took")) / 1e6;
    }

    /** {@return the number of each job, when it was about to be submitted, and when it was} */
    public long[][] paced(int from, int to, int meanMillis, long seed) throws IOException, InterruptedException {
        tell("paced " + from + " " + to + " " + meanMillis + " " + seed);
        return json.readValue(answer("times"), long[][].class);
    }

    /** {@return the number of each job that was run, and when its handler began} */
    public long[][] runs() throws IOException, InterruptedException {
        tell("runs");
        return json.readValue(answer("runs"), long[][].class);
    }

    private void tell(String command) throws IOException {
        OutputStream commands = process.getOutputStream();
        commands.write((command + "\n").getBytes(StandardCharsets.UTF_8));
        commands.flush();
    }

    private String answer(String word) throws InterruptedException {
        String line = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (line == null || !line.startsWith(word)) {
            throw failed("did not answer \"" + word + "\" but \"" + line + "\"");
        }
        return line.substring(word.length()).strip();
    }

    private CheckFailedException failed(String how) {
        return new CheckFailedException("A process of " + name + " " + how + ". It printed:\n" + printed());
    }

    /** {@return the last lines that it has printed beside its answers, such as warnings} */
    public String printed() {
        return String.join("\n", others);
    }

    /** Ends it in order; kills it if it does not. */
    @Override
    public void close() throws InterruptedException {
        try {
            tell("stop");
            process.waitFor(60, TimeUnit.SECONDS);
        } catch (IOException e) {
            others.add("(" + e.getMessage() + ")"); // it has ended
        } finally {
            process.destroyForcibly();
            process.waitFor();
        }
    }
}
