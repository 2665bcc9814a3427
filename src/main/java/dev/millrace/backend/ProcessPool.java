package dev.millrace.backend;

import dev.millrace.internal.Complaints;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A backend that runs jobs as processes on this machine: one executable for each kind of job, so many processes at a
 * time, each in a folder of its own.
 *
 * <pre>{@code
 * var pool = ProcessPool.in(Path.of("/var/lib/shop/processes"))
 *         .run("report", Path.of("/opt/shop/bin/report"), "--quiet")
 *         .logs(millrace.logs())
 *         .open();
 * var reconciler = millrace.backendReconciler(BackendSettings.DEFAULT, pool);
 * reconciler.start();
 * millrace.submit(report, new Report("2026-05"), backend("processes"));
 * }</pre>
 *
 * <p><b>What a process gets.</b> The job's parameters, as JSON, on its standard input, and in the file that {@code
 * MILLRACE_PARAMETERS_FILE} names; {@code MILLRACE_JOB_ID}, {@code MILLRACE_JOB_KIND} and {@code MILLRACE_ATTEMPT}; an
 * empty working folder, which is deleted some time after the attempt's end. Of this JVM's environment it gets next to
 * nothing, see {@link ProcessPoolBuilder#environment}.
 *
 * <p><b>What it may say.</b> Its exit code: with 0 the job has succeeded, with 126 and 127, by which a shell says that
 * there is nothing to be executed, it has failed for good, and with any other it is retried as its retry policy says.
 * What it prints goes to files, and to the log of its job, each line with its stream in the field {@code stream}; lines
 * of one stream are in their order. JSON that it writes to the file that {@code MILLRACE_RESULT_FILE} names is the
 * job's result, if it succeeds. The last line of the file that {@code MILLRACE_PROGRESS_FILE} names is its progress,
 * such as {@code 42.5 compiling}.
 *
 * <p><b>Cancelling</b> sends TERM to the process and its descendants and, if they run on, KILL after a while. Processes
 * that have made themselves somebody else's children are out of reach.
 *
 * <p><b>Restarts.</b> The end of this JVM, orderly or not, is none of the processes' business: they run on, and a pool
 * that is opened on the same folder knows them by pid and start instant, goes on with their output where the last one
 * was, and learns how those have ended that did so in between. A process that ended with the machine has failed, and is
 * retried. The folder must be on a local disk that outlives the JVM (so not in a container's own file system, nor do
 * processes outlive their container). A service of systemd needs {@code KillMode=process}, or systemd ends them all.
 *
 * <p>Needs a POSIX system with {@code /bin/sh}. Uses two daemon threads, and the JVM has one more for each process that
 * it has started. Safe for use by many threads.
 */
public final class ProcessPool implements Backend, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessPool.class);

    private final String name;
    private final int maxProcesses;
    private final Duration killAfter;
    private final Duration keepFor;
    private final Map<String, List<String>> programs;
    private final @Nullable OutputLog log;
    private final Launcher launcher;
    private final PoolFolder folder;
    private final PoolRounds processes;
    private final PoolRounds output;

    private final ReentrantLock lock = new ReentrantLock();

    /** By token, in the order in which they came in. */
    private final Map<UUID, PoolEntry> entries = new LinkedHashMap<>();

    private final Complaints complaints = new Complaints();

    private volatile boolean closed;

    /** Of the thread that sends output. */
    private boolean outputFails;

    ProcessPool(ProcessPoolBuilder builder) {
        this.name = builder.name;
        this.maxProcesses = builder.maxProcesses;
        this.killAfter = builder.killAfter;
        this.keepFor = builder.keepFor;
        this.programs = Map.copyOf(builder.programs);
        this.log = builder.logs == null ? null : new OutputLog(builder.logs, builder.maxLogLines);
        this.launcher = new Launcher(builder.environment);
        this.folder = PoolFolder.open(builder.folder);
        try {
            folder.operations().forEach(found -> entries.put(found.operation().token(), new PoolEntry(found)));
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw new IllegalStateException(
                    "The folder \"" + folder.path() + "\" of a process pool can't be read: " + e + ".", e);
        }
        this.processes = new PoolRounds("millrace-process-pool-" + name, this::lookAfterAll);
        // On its own, since it waits for a database: no process is to wait for that.
        this.output = new PoolRounds("millrace-process-output-" + name, this::streamAll);
    }

    /** Apart from the constructor, so that its threads see all of it. */
    ProcessPool started() {
        processes.start();
        output.start();
        return this;
    }

    /**
     * Begins to put a pool together.
     *
     * @param folder where it keeps what it has to know after a restart, and what processes print; for this pool alone.
     *     It is created if it is not there, readable for its owner only
     * @return a builder
     */
    public static ProcessPoolBuilder in(Path folder) {
        return new ProcessPoolBuilder(folder);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.CANCEL, Capability.LIST);
    }

    @Override
    public int room() throws IOException {
        lock.lock();
        try {
            checkOpen();
            return Math.max(0, maxProcesses - notEnded().size());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public StartResult start(StartRequest request) throws IOException {
        lock.lock();
        try {
            checkOpen();
            RemoteOperation operation = request.operation();
            String kind = request.job().kind();
            if (!entries.containsKey(operation.token())) {
                if (folder.has(operation.token())) {
                    return new StartResult.Refused(
                            "What the process pool \"" + name
                                    + "\" has written down of this attempt can't be read, as after"
                                    + " a loss of power. It may have run.",
                            Retrying.ALLOWED);
                }
                if (!programs.containsKey(kind)) {
                    return new StartResult.Refused(
                            "The process pool \"" + name + "\" has no program for jobs of kind \"" + kind
                                    + "\", only for "
                                    + String.join(
                                            ", ",
                                            programs.keySet().stream().sorted().toList())
                                    + ". Give it one by ProcessPoolBuilder.run.",
                            Retrying.POINTLESS);
                }
                add(operation, kind, request.job().spec().parameters().text());
            }
            return new StartResult.Started(operation.token().toString());
        } finally {
            lock.unlock();
        }
    }

    private PoolEntry add(RemoteOperation operation, String kind, String parameters) throws IOException {
        PoolEntry entry = new PoolEntry(OperationFolder.create(folder.path(), operation, kind, parameters));
        entries.put(operation.token(), entry);
        processes.wakeUp();
        return entry;
    }

    @Override
    public Observation observe(RemoteOperation operation) throws IOException {
        lock.lock();
        try {
            checkOpen();
            PoolEntry entry = entries.get(operation.token());
            long now = System.nanoTime();
            return entry == null ? new Observation.Gone() : entry.observe(entry.state(now), now);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void cancel(RemoteOperation operation) throws IOException {
        lock.lock();
        try {
            checkOpen();
            PoolEntry entry = entries.get(operation.token());
            if (entry == null && folder.has(operation.token())) {
                return; // it can't be read, and is never started
            }
            if (entry == null) {
                // Its start may still be on the way, and must find that it is not to run.
                entry = add(operation, "", "{}");
            }
            if (entry.state(System.nanoTime()) != PoolEntry.State.ENDED && !entry.folder.isToBeCancelled()) {
                entry.folder.cancel();
            }
            entry.cancel(System.nanoTime(), killAfter);
            processes.wakeUp();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Collection<RemoteOperation> operations() throws IOException {
        lock.lock();
        try {
            checkOpen();
            return notEnded().stream().map(entry -> entry.folder.operation()).toList();
        } finally {
            lock.unlock();
        }
    }

    /** One of which that can't be found out counts as running, and keeps no other from it. */
    private boolean hasEnded(PoolEntry entry, long now) {
        try {
            return entry.state(now) == PoolEntry.State.ENDED;
        } catch (IOException | RuntimeException e) {
            LOG.debug("The state of {} can't be read.", entry.folder.path(), e);
            return false;
        }
    }

    private List<PoolEntry> notEnded() {
        List<PoolEntry> those = new ArrayList<>();
        long now = System.nanoTime();
        for (PoolEntry entry : entries.values()) {
            if (!hasEnded(entry, now)) {
                those.add(entry);
            }
        }
        return those;
    }

    /** Leaves the processes to themselves, and to the next pool that is opened on the folder. Repeatable. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        processes.stop();
        output.stop();
        folder.close();
    }

    private void lookAfterAll() {
        int running = 0;
        for (PoolEntry entry : snapshot()) {
            try {
                running += step(entry, running) ? 1 : 0;
                complaints.settled(entry.folder.path().toString());
            } catch (IOException | RuntimeException e) {
                sayFailed(entry, e);
            }
        }
    }

    /** Once for each, while it lasts. */
    private void sayFailed(PoolEntry entry, Exception failure) {
        if (complaints.isNew(entry.folder.path().toString())) {
            LOG.warn(
                    "Attempt \"{}\" could not be started or looked after. That is tried again, several times a second.",
                    entry.folder.path(),
                    failure);
        } else {
            LOG.debug("Attempt \"{}\" could not be looked after again.", entry.folder.path(), failure);
        }
    }

    private List<PoolEntry> snapshot() {
        lock.lock();
        try {
            // Those that run come first, so that it is known how many more there may be.
            List<PoolEntry> started = new ArrayList<>();
            List<PoolEntry> others = new ArrayList<>();
            entries.values().forEach(entry -> (entry.isStarted() ? started : others).add(entry));
            started.addAll(others);
            return started;
        } finally {
            lock.unlock();
        }
    }

    /** Does what is to be done for one, and says whether it runs. */
    private boolean step(PoolEntry entry, int running) throws IOException {
        long now = System.nanoTime();
        PoolEntry.State state;
        lock.lock();
        try {
            state = entry.state(now);
            entry.look(state, now);
            if (state != PoolEntry.State.ENDED && entry.folder.isToBeCancelled()) {
                entry.cancel(now, killAfter);
            } else if (state == PoolEntry.State.WAITING && running < maxProcesses) {
                launch(entry);
                return true;
            }
            if (!entry.isOver(now, Instant.now().minus(keepFor))) {
                return state == PoolEntry.State.RUNNING;
            }
            entry.folder.discard();
            entries.remove(entry.folder.operation().token());
        } finally {
            lock.unlock();
        }
        entry.folder.deleteDiscarded(); // may take long, if the process has left many files
        return false;
    }

    private void streamAll() {
        boolean failed = false;
        for (PoolEntry entry : snapshot()) {
            try {
                if (!entry.isDrained() && !closed) {
                    stream(entry);
                }
            } catch (IOException | RuntimeException e) {
                failed = true;
                sayOutputFailed(entry, e);
            }
        }
        outputFails = failed;
    }

    private void stream(PoolEntry entry) throws IOException {
        PoolEntry.State state;
        lock.lock();
        try {
            state = entry.state(System.nanoTime());
        } finally {
            lock.unlock();
        }
        if (state != PoolEntry.State.WAITING) {
            entry.stream(log, state);
        }
    }

    /** Once, while it lasts. */
    private void sayOutputFailed(PoolEntry entry, Exception failure) {
        if (!outputFails) {
            outputFails = true;
            LOG.warn(
                    "What processes print does not get into the logs of their jobs at present; it is in files, such as"
                            + " in \"{}\", and sent again.",
                    entry.folder.path(),
                    failure);
        }
    }

    private void launch(PoolEntry entry) throws IOException {
        List<String> program = programs.get(entry.folder.kind());
        if (program == null) { // it came in at an earlier pool, which had one
            if (entry.folder.preventStart()) {
                entry.folder.writeExit("127");
            }
            return;
        }
        launcher.launch(entry.folder, program);
        entry.launched(System.nanoTime());
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("The process pool \"" + name + "\" is closed.");
        }
    }
}
