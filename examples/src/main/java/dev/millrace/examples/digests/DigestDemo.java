package dev.millrace.examples.digests;

import static java.util.function.Predicate.not;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;

/** Digests the files of a directory in two worker processes, kills one of them, and shows that nothing was lost. */
public final class DigestDemo {
    static final int ALL_IS_WELL = 0;
    static final int FAILED = 1;
    static final int UNUSABLE_ARGUMENTS = 2;

    private static final int SLOTS = 8;
    private static final int CONNECTIONS = 3;
    private static final int JOBS_PER_TRANSACTION = 100;

    /** So that the worker to be killed holds jobs when it is, on a busy machine as well. */
    private static final Duration DOOMED_TAKES = Duration.ofSeconds(3);

    /** Far shorter than the defaults of 30 and 90 seconds: the demonstration is to end soon. */
    private static final HeartbeatPolicy HEARTBEAT =
            new HeartbeatPolicy(Duration.ofMillis(500), Duration.ofMillis(2_500));

    private static final RetryPolicy RETRY = RetryPolicy.fixed(5, Duration.ofMillis(200));

    private final Consumer<DSLContext> beforeVerification;
    private final Display display;

    /** @param beforeVerification what is done to the database before the digests are compared; for tests */
    DigestDemo(Consumer<DSLContext> beforeVerification) {
        this.beforeVerification = beforeVerification;
        this.display = new Display(System.out, Terminal.isStandardOutput(), System::nanoTime);
    }

    /** Takes a directory, or nothing, or {@code --help}. */
    public static void main(String[] args) throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupted.set(true)));
        try {
            System.exit(new DigestDemo(dsl -> {}).run(args));
        } catch (RuntimeException e) {
            // Once the JVM is told to end, so are its children and its server, and what fails then needs no words.
            if (!interrupted.get()) {
                throw e;
            }
        }
    }

    /** Returns the exit code. */
    int run(String... args) throws IOException, InterruptedException {
        Arguments arguments;
        try {
            arguments = Arguments.parse(args);
        } catch (Arguments.UsageException e) {
            System.err.println(e.getMessage());
            System.err.println("Call it with --help to see what it takes.");
            return UNUSABLE_ARGUMENTS;
        }
        if (arguments.help()) {
            System.out.println(Arguments.USAGE);
            return ALL_IS_WELL;
        }
        FileTree tree = FileTree.below(arguments.directory());
        display.say("SHA-256 of all files in " + arguments.directory().toRealPath() + ": "
                + Text.count(tree.files().size(), "file") + " (" + tree.leftOut() + ")");
        if (tree.files().isEmpty()) {
            System.err.println("There is nothing to do. Name a directory that has files.");
            return UNUSABLE_ARGUMENTS;
        }
        try {
            return onDatabase(tree.files());
        } catch (DemoFailedException e) {
            display.end();
            System.err.println(e.getMessage());
            return FAILED;
        }
    }

    private int onDatabase(List<Path> files) throws IOException, InterruptedException, DemoFailedException {
        try (DevDatabase server = DevDatabase.start()) {
            display.say(server.description());
            int number = ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
            Database database = server.createDatabase("millrace_demo_" + number);
            DemoPool coordinates = new DemoPool(database.jdbcUrl(), database.user(), database.password());
            try (HikariDataSource pool = coordinates.open("digest-demo", CONNECTIONS)) {
                return drainAndVerify(files, pool, coordinates);
            } finally {
                database.drop();
            }
        }
    }

    private int drainAndVerify(List<Path> files, HikariDataSource pool, DemoPool coordinates)
            throws IOException, InterruptedException, DemoFailedException {
        DSLContext dsl = DSL.using(pool, SQLDialect.POSTGRES);
        Millrace millrace = Millrace.on(pool);
        millrace.migrate();
        DigestTable table = new DigestTable(dsl);
        table.create();
        long began = System.nanoTime();
        List<String> ids = submit(files, dsl, millrace);
        display.say("Submitted " + Text.count(ids.size(), "job") + ".");

        JobTable jobs = new JobTable(dsl);
        Set<String> held;
        try (ChildWorker doomed = ChildWorker.start("worker-1", SLOTS, DOOMED_TAKES, coordinates);
                ChildWorker survivor = ChildWorker.start("worker-2", SLOTS, Duration.ZERO, coordinates)) {
            display.say("Started worker-1 (process " + doomed.pid() + ", at least " + DOOMED_TAKES.toSeconds()
                    + " s a job) and worker-2 (process " + survivor.pid() + "), " + SLOTS + " jobs at a time each.");
            held = new Drain(jobs, display, doomed, survivor, ids.size()).run();
        }
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        beforeVerification.accept(dsl);
        return verify(ids, held, took, jobs, table);
    }

    /** In transactions of some jobs each: either all jobs of one are submitted, or none. */
    private static List<String> submit(List<Path> files, DSLContext dsl, Millrace millrace) {
        List<String> ids = new ArrayList<>();
        for (int from = 0; from < files.size(); from += JOBS_PER_TRANSACTION) {
            List<Path> some = files.subList(from, Math.min(files.size(), from + JOBS_PER_TRANSACTION));
            dsl.transaction(tx -> {
                for (Path file : some) {
                    ids.add(millrace.in(tx)
                            .submit(
                                    DigestFile.TYPE,
                                    new DigestFile(file.toString()),
                                    SubmitOption.heartbeat(HEARTBEAT),
                                    SubmitOption.retry(RETRY))
                            .id());
                }
            });
        }
        return ids;
    }

    private int verify(List<String> ids, Set<String> held, Duration took, JobTable jobs, DigestTable table) {
        Map<String, JobStatus> statuses = jobs.statuses();
        Map<String, Integer> attempts = jobs.attempts();
        Map<String, DigestTable.Row> rows = table.all();
        List<String> lost = ids.stream()
                .filter(not(id -> statuses.get(id) == JobStatus.SUCCEEDED && rows.containsKey(id)))
                .toList();
        long ranAgain =
                held.stream().filter(id -> attempts.getOrDefault(id, 0) > 1).count();
        display.say(String.format(
                Locale.ROOT,
                "%s, %s, %s, %s ran again after the kill, %d lost, %.1f s",
                Text.count(ids.size(), "file"),
                Text.count(statuses.size(), "job"),
                Text.count(
                        attempts.values().stream().mapToInt(Integer::intValue).sum(), "attempt"),
                Text.count(ranAgain, "job"),
                lost.size(),
                took.toMillis() / 1_000.0));
        Verification verification = Verification.of(rows);
        display.say(verification.summary());

        lost.forEach(id -> System.err.println("Lost: job " + id + ", " + statuses.get(id)));
        verification.different().forEach(path -> System.err.println("Different: " + path));
        if (ranAgain == 0) {
            System.err.println("The kill came too late: worker-1 held no jobs any more. Run it again.");
        }
        return lost.isEmpty() && verification.different().isEmpty() && ranAgain > 0 ? ALL_IS_WELL : FAILED;
    }
}
