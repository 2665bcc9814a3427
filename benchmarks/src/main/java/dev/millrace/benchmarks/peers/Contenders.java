package dev.millrace.benchmarks.peers;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.peers.Contender.About;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Who takes part, and what has to be known of each. Both as it comes and as its own documentation advises for the task. */
public final class Contenders {
    /** What the names of all that are Millrace begin with. */
    public static final String MILLRACE_NAME = "Millrace";

    /** What the names of all that are no library begin with. */
    public static final String FLOOR_NAME = "floor";

    /** The one of these that a submission wakes. */
    public static final String FLOOR_WOKEN = "floor, woken";

    /** The one for many short jobs. */
    public static final String MILLRACE_TUNED = "Millrace tuned";

    /** The one that a submission wakes; all else is as it comes. */
    public static final String MILLRACE_WOKEN = "Millrace, woken";

    /** The one that ratios are against, among libraries for the JVM. */
    public static final String DB_SCHEDULER = "db-scheduler tuned";

    /** The one that ratios of those who are as they come are against. */
    public static final String DB_SCHEDULER_AS_IT_COMES = "db-scheduler";

    /** The one that ratios are against, among libraries for Node. */
    public static final String PG_BOSS = "pg-boss tuned";

    static final String DB_SCHEDULER_VERSION = "16.7.1";
    static final String JOBRUNR_VERSION = "8.7.0";
    static final String QUARTZ_VERSION = "2.5.2";
    static final String PG_BOSS_VERSION = "10.4.2";
    static final String GRAPHILE_WORKER_VERSION = "0.17.3";

    private static final String NO_VERSION = "this build";

    private static final Ledger FLOOR = Ledger.deleting("SELECT count(*) FROM jobs");
    private static final Ledger MILLRACE = Ledger.keeping(
            "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE status <> 'Succeeded'",
            "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE status = 'Succeeded'");
    private static final Ledger SCHEDULED = Ledger.deleting("SELECT count(*) FROM scheduled_tasks");
    private static final Ledger JOBRUNR = Ledger.keeping(
            "SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'",
            "SELECT count(*) FROM jobrunr_jobs WHERE state = 'SUCCEEDED'");
    private static final Ledger QUARTZ =
            Ledger.deleting("SELECT (SELECT count(*) FROM qrtz_triggers) + (SELECT count(*) FROM qrtz_job_details)"
                    + " + (SELECT count(*) FROM qrtz_fired_triggers)");
    private static final Ledger PG_BOSS_JOBS = Ledger.keeping(
            "SELECT count(*) FROM pgboss.job WHERE name = 'noop' AND state <> 'completed'",
            "SELECT (SELECT count(*) FROM pgboss.job WHERE name = 'noop' AND state = 'completed')"
                    + " + (SELECT count(*) FROM pgboss.archive WHERE name = 'noop' AND state = 'completed')");
    private static final Ledger GRAPHILE = Ledger.deleting("SELECT count(*) FROM graphile_worker.jobs");

    /** So many that those who are not among the fast can do them, too. */
    private static final int FEWER = 4_000;

    /** For those who would take minutes for more. */
    private static final int FEW = 1_000;

    /** For whoever looks for single jobs so seldom that each costs seconds. */
    private static final int FEW_POLLS = 20;

    private final Path folder;
    private final Optional<String> whyAbsent;

    private Contenders(Path folder, Optional<String> whyAbsent) {
        this.folder = folder;
        this.whyAbsent = whyAbsent;
    }

    /**
     * {@return those that can be had here: without Node or the packages for it, only those for the JVM}
     *
     * @param folder where packages for Node are installed, or were
     */
    public static Contenders here(Path folder) throws IOException, InterruptedException {
        return new Contenders(folder, new NodePackages(folder).install());
    }

    /** {@return those for the JVM} */
    public static Contenders onTheJvm() {
        return new Contenders(Path.of(""), Optional.of("only those for the JVM were asked for"));
    }

    /** {@return why those for Node are not among them, if they are not} */
    public Optional<String> whyAbsent() {
        return whyAbsent;
    }

    /** {@return who drains a queue} */
    public List<Contender> drain() {
        List<Contender> all = new ArrayList<>(List.of(
                of("floor, 1 at a time", "floor-1", floor("1")).withAtMost(FEWER),
                of("floor, 50 at a time", "floor-50", floor("50")).inSeveralProcesses(),
                of(MILLRACE_NAME, "millrace", millrace("as it comes")).withAtMost(FEWER),
                of(MILLRACE_TUNED, "millrace-tuned", millraceTuned()).inSeveralProcesses(),
                of(DB_SCHEDULER_AS_IT_COMES, "db-scheduler", dbScheduler()).withAtMost(FEWER),
                of(DB_SCHEDULER, "db-scheduler-tuned", dbSchedulerTuned()).inSeveralProcesses(),
                of("JobRunr", "jobrunr", jobRunr("as it comes, so a poll each 15 s"))
                        .withAtMost(FEWER),
                of("JobRunr tuned", "jobrunr-tuned", jobRunr("polls each 5 s, the shortest that it takes"))
                        .withAtMost(FEWER),
                of("Quartz", "quartz", quartz("clustered; all else as it comes"))
                        .withAtMost(FEW),
                of("Quartz tuned", "quartz-tuned", quartzTuned()).withAtMost(FEW)));
        if (whyAbsent.isEmpty()) {
            all.addAll(List.of(
                    // Each of its pollers takes one job in 2 s.
                    onNode("pg-boss", "pg-boss.js", "default", pgBoss()).withAtMost(160),
                    onNode(PG_BOSS, "pg-boss.js", "tuned", pgBossTuned()).inSeveralProcesses(),
                    onNode("graphile-worker", "graphile-worker.js", "default", graphile())
                            .withAtMost(FEWER),
                    onNode("graphile-worker tuned", "graphile-worker.js", "tuned", graphileTuned())
                            .inSeveralProcesses()));
        }
        return List.copyOf(all);
    }

    /** {@return who picks up single jobs} */
    public List<Contender> latency() {
        List<Contender> all = new ArrayList<>(List.of(
                of(MILLRACE_WOKEN, "millrace-wake-ups", millrace("with wake-ups")),
                of("Millrace tuned, woken", "millrace-tuned", millraceTuned()),
                of("Millrace, polling each 0.5 s", "millrace-poll", millrace("polls each 0.5 s")),
                of("Millrace, polling each 5 s", "millrace", millrace("as it comes, so a poll each 5 s"))
                        .withAtMost(FEW_POLLS),
                of("db-scheduler, same process", "db-scheduler-tuned", dbSchedulerTuned())
                        .submittingInItsProcess(),
                of("db-scheduler, polling each 0.5 s", "db-scheduler-tuned", dbSchedulerTuned()),
                of("JobRunr, polling each 5 s", "jobrunr-tuned", jobRunr("polls each 5 s, the shortest that it takes"))
                        .withAtMost(FEW_POLLS),
                of("Quartz, same process", "quartz-tuned", quartzTuned()).submittingInItsProcess(),
                of("Quartz, polling each 1 s", "quartz-tuned", quartzTuned()),
                of(FLOOR_WOKEN, "floor-woken", floorWoken())));
        if (whyAbsent.isEmpty()) {
            all.addAll(List.of(
                    onNode("pg-boss, polling each 0.5 s", "pg-boss.js", "tuned", pgBossTuned()),
                    onNode("graphile-worker, woken", "graphile-worker.js", "default", graphile())));
        }
        return List.copyOf(all);
    }

    private Contender onNode(String name, String script, String variant, About about) {
        return Contender.of(name, new NodeLaunch(folder, script, variant), about);
    }

    private static Contender of(String name, String engine, About about) {
        return Contender.of(name, new JavaLaunch(engine), about);
    }

    private static About floor(String batch) {
        return new About(
                NO_VERSION,
                "plain JDBC, claims and completes " + batch + " in a statement each",
                "No library: a table of three columns, no retries, no recovery, no priorities, no heartbeats. A finished"
                        + " job is deleted. A thread waits for the commit of its claim and of its completion.",
                FLOOR);
    }

    private static About floorWoken() {
        return new About(
                NO_VERSION,
                "plain JDBC: NOTIFY in each insert, and a thread each that listens, claims one job in a statement, and runs it"
                        + " and deletes it in another",
                "No library: it shows what PostgreSQL, the driver and three threads cost, with the table of the other floors."
                        + " When a notification has come, the driver for the JVM waits for another millisecond whether there"
                        + " are more before it returns, here as in Millrace.",
                FLOOR);
    }

    private static About millrace(String settings) {
        return new About(
                NO_VERSION,
                settings,
                "Keeps finished jobs, with their history, for 7 days. A claim takes as many jobs as there are free slots."
                        + " Handlers of jobs that were just claimed begin without a statement; each outcome is a statement with"
                        + " a commit of its own, for which a slot waits. Heartbeats each 30 s.",
                MILLRACE);
    }

    private static About millraceTuned() {
        return new About(
                NO_VERSION,
                "prefetch 300, outcome buffer of 200 within 20 ms, wake-ups",
                "Keeps finished jobs, with their history, for 7 days. Claims 300 jobs ahead (db-scheduler, tuned: up to 320)."
                        + " Handlers of jobs that were just claimed begin without a statement, as they do untuned. Up to 200"
                        + " outcomes are committed together, and no slot waits for them, so a kill repeats more jobs. Wake-ups"
                        + " put a NOTIFY into each submission. Heartbeats each 30 s.",
                MILLRACE);
    }

    private static About dbScheduler() {
        return new About(
                DB_SCHEDULER_VERSION,
                "as it comes: fetch, then lock each; polls each 10 s while there is nothing",
                "Deletes finished jobs. Each is locked by an update and deleted at its end, each with a commit, and a thread"
                        + " waits for both. Heartbeats each 5 min. Bulk submissions in portions of 100.",
                SCHEDULED);
    }

    private static About dbSchedulerTuned() {
        return new About(
                DB_SCHEDULER_VERSION,
                "lock and fetch, from 4 to 20 times as many as threads, as in its documentation on performance;"
                        + " immediate execution; polls each 0.5 s",
                "Deletes finished jobs. A claim takes up to 20 jobs for each thread; each is deleted at its end, with a"
                        + " commit, for which the thread waits. There is no statement at the start of a handler. Immediate"
                        + " execution is for jobs that are submitted by the worker's own process. Heartbeats each 5 min. Bulk"
                        + " submissions in portions of 100.",
                SCHEDULED);
    }

    private static About jobRunr(String settings) {
        return new About(
                JOBRUNR_VERSION,
                "open source, " + settings,
                "Keeps finished jobs for 36 h. A job is a JSON text with the history of its states, which is written anew at"
                        + " each change of state. A poll takes as many jobs as there are idle threads, and so does each"
                        + " thread that becomes idle. A thread waits for the commit of its outcome.",
                JOBRUNR);
    }

    private static About quartz(String settings) {
        return new About(
                QUARTZ_VERSION,
                "JDBC job store, " + settings,
                "A scheduler rather than a queue. Deletes finished jobs. A job is a row of details, a trigger and its"
                        + " extension; firing adds a fourth. All threads and processes take turns by one row lock to acquire,"
                        + " fire and complete.",
                QUARTZ);
    }

    private static About quartzTuned() {
        return quartz("clustered, acquires up to 16 triggers at a time, idle wait of 1 s, misfire threshold of 1 h");
    }

    private static About pgBoss() {
        return new About(
                PG_BOSS_VERSION,
                "as it comes: 16 pollers, each takes one job each 2 s",
                "Node: handlers share one thread. Keeps finished jobs for 12 h, then in an archive. A poller that has found a"
                        + " job waits for its interval all the same, and therefore it gets the fewest jobs here."
                        + " It does not wait for the commit of a completion.",
                PG_BOSS_JOBS);
    }

    private static About pgBossTuned() {
        return new About(
                PG_BOSS_VERSION,
                "16 pollers, batches of 50, an interval of 0.5 s, the shortest that it takes, which a full batch skips by"
                        + " notifyWorker",
                "Node: handlers share one thread. Keeps finished jobs for 12 h, then in an archive. 16 batches of 50 are claimed"
                        + " at a time, and 50 jobs succeed or fail together. A poller does not wait for the commit of a"
                        + " completion.",
                PG_BOSS_JOBS);
    }

    private static About graphile() {
        return new About(
                GRAPHILE_WORKER_VERSION,
                "16 jobs at a time; all else as it comes",
                "Node: handlers share one thread. Deletes finished jobs. Woken by NOTIFY at each submission. Claims one job at a"
                        + " time, and waits for the commit of its completion before the next.",
                GRAPHILE);
    }

    private static About graphileTuned() {
        return new About(
                GRAPHILE_WORKER_VERSION,
                "16 jobs at a time, local queue of 500, completions in batches without delay, as in its documentation on"
                        + " performance; NO_LOG_SUCCESS=1, as in its own benchmark",
                "Node: handlers share one thread. Deletes finished jobs. Woken by NOTIFY at each submission. Claims 500 jobs"
                        + " ahead. Completions are committed together, and the next job does not wait for them, so a kill"
                        + " repeats more jobs, after 4 h.",
                GRAPHILE);
    }
}
