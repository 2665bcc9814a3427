package dev.millrace.benchmarks.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process of a contender in Java. It takes commands, one a line, and answers each by a line: see {@link Peer}. When its
 * input ends without {@code stop} its parent is dead, and it ends at once. Those of contenders in JavaScript do the same.
 *
 * <p>Arguments: the engine's name, {@code submit} or {@code work} or {@code both}, the worker's concurrency, and how many runs
 * to have room for. The environment says which database.
 */
final class PeerProcess {
    /** How often a worker says how many jobs it has run. */
    private static final int SAY_MILLIS = 10;

    private static final int PARENT_IS_GONE = 3;

    private final ObjectMapper json = new ObjectMapper();
    private final PeerDatabase database = PeerDatabase.of(System.getenv());
    private final Engine engine;
    private final String role;
    private final int concurrency;
    private final Recorder recorder;
    private final ScheduledExecutorService sayer = Executors.newSingleThreadScheduledExecutor(PeerProcess::daemon);
    private @Nullable Submitter submitter;
    private @Nullable Working working;
    private int said;

    private PeerProcess(Engine engine, String role, int concurrency, int capacity) {
        this.engine = engine;
        this.role = role;
        this.concurrency = concurrency;
        this.recorder = new Recorder(capacity);
    }

    public static void main(String[] arguments) throws Exception {
        PeerProcess process = new PeerProcess(
                Engines.named(arguments[0]),
                arguments[1],
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]));
        try {
            process.obey();
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0); // whatever threads a contender has left behind
    }

    private void obey() throws Exception {
        connect();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("stop")) {
                stop();
                say("stopped");
                return;
            }
            say(answer(words));
        }
        Runtime.getRuntime().halt(PARENT_IS_GONE);
    }

    /** Everything but the start of a worker: that is what is measured. */
    private void connect() throws Exception {
        if (role.equals("submit")) {
            submitter = engine.submitter(database);
        } else {
            working = engine.worker(database, concurrency, recorder);
        }
    }

    private String answer(String... words) throws Exception {
        return switch (words[0]) {
            case "work" -> "working " + work();
            case "one" -> "took " + one(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "many" -> "took " + many(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "paced" ->
                "times "
                        + json.writeValueAsString(paced(
                                Integer.parseInt(words[1]),
                                Integer.parseInt(words[2]),
                                Integer.parseInt(words[3]),
                                Long.parseLong(words[4])));
            case "runs" -> "runs " + json.writeValueAsString(recorder.runs());
            default -> throw new IllegalArgumentException("There is no command " + words[0]);
        };
    }

    /** Returns when the worker was told to start. */
    private long work() throws Exception {
        if (working == null) {
            throw new IllegalStateException("A process in the role " + role + " has no worker");
        }
        long start = Micros.now();
        working.start();
        if (role.equals("both")) {
            submitter = working.here();
        }
        ScheduledFuture<?> unused = sayer.scheduleWithFixedDelay(this::sayCount, 0, SAY_MILLIS, TimeUnit.MILLISECONDS);
        return start;
    }

    private long one(int from, int to) throws Exception {
        Submitter jobs = submitting();
        long start = System.nanoTime();
        for (int index = from; index < to; index++) {
            jobs.one(index);
        }
        return micros(start);
    }

    private long many(int from, int to) throws Exception {
        long start = System.nanoTime();
        submitting().many(from, to);
        return micros(start);
    }

    /** Each job's number, when it was about to be submitted, and when the submission had returned. */
    private List<List<Long>> paced(int from, int to, int meanMillis, long seed) throws Exception {
        Random random = new Random(seed);
        List<List<Long>> times = new ArrayList<>();
        for (int index = from; index < to; index++) {
            TimeUnit.MICROSECONDS.sleep(pause(meanMillis, random.nextDouble()));
            long before = Micros.now();
            submitting().one(index);
            times.add(List.of((long) index, before, Micros.now()));
        }
        return times;
    }

    /**
     * Exponential, so that jobs come at any time between polls with the same likelihood, and some so soon that a worker is not
     * done with the one before.
     *
     * @return in microseconds, up to five times the mean
     */
    static long pause(int meanMillis, double random) {
        return (long) (Math.min(5, -Math.log(1 - random)) * meanMillis * 1_000);
    }

    private Submitter submitting() {
        if (submitter == null) {
            throw new IllegalStateException("A process in the role " + role + " does not submit");
        }
        return submitter;
    }

    private void stop() {
        sayer.shutdownNow();
        if (working != null) {
            working.close();
        } else if (submitter != null) {
            submitter.close();
        }
    }

    private void sayCount() {
        int count = recorder.count();
        if (count != said) {
            said = count;
            say("count " + count);
        }
    }

    private static void say(String line) {
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    private static long micros(long start) {
        return (System.nanoTime() - start) / 1_000;
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "say");
        thread.setDaemon(true);
        return thread;
    }
}
