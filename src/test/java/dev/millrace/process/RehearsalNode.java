package dev.millrace.process;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.db.MigrationReport;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.Worker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * A node as an application has it, made of nothing but the public API. Builds of different releases run this together,
 * each its own version of it: <b>so what follows is frozen</b>. Add to it; don't change it.
 *
 * <p>Environment: {@code MILLRACE_PROCESS_URL}, {@code _USER}, {@code _PASSWORD}, {@code _SCHEMA}. Argument: the node's
 * name. It says {@code ready}, and from where its library was loaded. Then each line of its standard input is an order:
 *
 * <ul>
 *   <li>{@code migrate}: migrates, and says {@code migrated}, the version and how many migrations it has applied.
 *   <li>{@code submit <queue> <what> <number>}: submits so many jobs, and says {@code submitted} and the id for each.
 *   <li>{@code work <queue>}: starts a worker for up to 4 jobs of this queue at a time, and says {@code working}.
 * </ul>
 *
 * <p>A job's attempt says {@code began}, the id and the number of the attempt. Then, in its first attempt, {@code hang}
 * waits for its end, and {@code fail} fails; in any other one, and as {@code nap} in the first as well, it succeeds after
 * 20 ms. When the input ends, the process does.
 */
final class RehearsalNode {
    /** The payload of all jobs. */
    record Part(String what) {}

    static final JobType<Part> PART = JobType.of("rehearse", Part.class);

    /** For jobs whose worker is going to be killed. Others keep the default, so that a busy machine kills none. */
    private static final HeartbeatPolicy BRISK = new HeartbeatPolicy(Duration.ofMillis(400), Duration.ofSeconds(2));

    private static final Duration OFTEN = Duration.ofMillis(50);
    private static final long NAP_MILLIS = 20;

    private RehearsalNode() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> environment = System.getenv();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(environment.get("MILLRACE_PROCESS_URL"));
        config.setUsername(environment.get("MILLRACE_PROCESS_USER"));
        config.setPassword(environment.get("MILLRACE_PROCESS_PASSWORD"));
        config.setMaximumPoolSize(6);
        config.setMinimumIdle(1);
        Millrace millrace =
                Millrace.on(new HikariDataSource(config)).withSchema(environment.get("MILLRACE_PROCESS_SCHEMA"));
        say("ready "
                + Millrace.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath());
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String order;
        while ((order = orders.readLine()) != null) {
            String[] words = order.split(" ", -1);
            switch (words[0]) {
                case "migrate" -> migrate(millrace);
                case "submit" -> submit(millrace, words[1], words[2], Integer.parseInt(words[3]));
                case "work" -> work(millrace, args[0], words[1]);
                default -> throw new IllegalArgumentException("There is no such order: " + order);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void migrate(Millrace millrace) {
        MigrationReport report = millrace.migrate();
        say("migrated " + report.versionAfter() + " " + report.appliedCount());
    }

    private static void submit(Millrace millrace, String queue, String what, int number) {
        for (int i = 0; i < number; i++) {
            Job job = millrace.submit(
                    PART,
                    new Part(what),
                    SubmitOption.queue(queue),
                    SubmitOption.heartbeat(what.equals("hang") ? BRISK : HeartbeatPolicy.DEFAULT),
                    SubmitOption.retry(RetryPolicy.fixed(9, Duration.ZERO)));
            say("submitted " + job.id());
        }
    }

    @SuppressWarnings("resource") // it ends with the process
    private static void work(Millrace millrace, String name, String queue) {
        Worker worker = millrace.worker()
                .name(name)
                .queues(queue)
                .concurrency(4)
                .pollInterval(OFTEN)
                .recovery(RecoverySettings.DEFAULT.withJobSweepInterval(OFTEN.multipliedBy(2)))
                .handle(PART, RehearsalNode::play)
                .start();
        say("working " + worker.settings().name());
    }

    private static void play(Part part, JobContext context) throws InterruptedException {
        say("began " + context.job().id() + " " + context.attempt());
        if (context.attempt() == 1 && part.what().equals("hang")) {
            Thread.currentThread().join();
        }
        if (context.attempt() == 1 && part.what().equals("fail")) {
            throw new IllegalStateException("as rehearsed");
        }
        Thread.sleep(NAP_MILLIS);
    }

    private static void say(String event) {
        synchronized (System.out) {
            System.out.println(event);
            System.out.flush();
        }
    }
}
