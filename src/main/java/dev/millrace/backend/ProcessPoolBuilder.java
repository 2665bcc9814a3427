package dev.millrace.backend;

import dev.millrace.job.Checks;
import dev.millrace.job.JobSpec;
import dev.millrace.store.JobLogStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Puts a {@link ProcessPool} together: its programs, and what differs from the defaults. For one thread, and one pool.
 */
public final class ProcessPoolBuilder {
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final int MOST_PROCESSES = 1_000;
    private static final int MOST_LINES = 8_000;

    final Path folder;
    String name = "processes";
    int maxProcesses = 4;
    int maxLogLines = 2_000;
    Duration killAfter = Duration.ofSeconds(10);
    Duration keepFor = Duration.ofDays(1);

    @Nullable
    JobLogStore logs;

    final Map<String, List<String>> programs = new LinkedHashMap<>();
    final Map<String, String> environment = new LinkedHashMap<>();

    ProcessPoolBuilder(Path folder) {
        this.folder = folder.toAbsolutePath().normalize();
    }

    /**
     * The backend's name, by which jobs are submitted to it; {@code processes} by default. Where several machines have
     * a pool, each needs a name of its own, since a process is known only to the pool that has started it.
     *
     * @param value 1 to 64 characters, not {@code local}
     * @return this builder
     * @throws dev.millrace.job.InvalidJobException if it is not allowed
     */
    public ProcessPoolBuilder name(String value) {
        Checks.name("backend.name", value);
        if (value.equals(JobSpec.LOCAL_BACKEND)) {
            throw refused("name", "\"" + value + "\"", "another name: that one means that workers run the job");
        }
        this.name = value;
        return this;
    }

    /**
     * Runs jobs of this kind by this program. Jobs of kinds that have none fail.
     *
     * @param kind the kind of job: 1 to 64 characters
     * @param executable the absolute path of an executable file; it is executed as it is, never by a shell
     * @param arguments its arguments, as they are
     * @return this builder
     * @throws IllegalArgumentException if there is no such executable, or the kind has a program already
     */
    public ProcessPoolBuilder run(String kind, Path executable, String... arguments) {
        Checks.name("kind", kind);
        if (!executable.isAbsolute() || !Files.isRegularFile(executable) || !Files.isExecutable(executable)) {
            throw refused("executable", "\"" + executable + "\"", "the absolute path of an executable file");
        }
        List<String> command = new ArrayList<>();
        command.add(executable.toString());
        for (String argument : arguments) {
            if (argument.indexOf('\0') >= 0) {
                throw refused("arguments", "one with a NUL character", "text without it");
            }
            command.add(argument);
        }
        if (programs.putIfAbsent(kind, List.copyOf(command)) != null) {
            throw refused("kind", "\"" + kind + "\" twice", "one program for each kind");
        }
        return this;
    }

    /**
     * A variable for the environment of all processes. They do not get this process's own environment, in which there
     * may be secrets, but for {@code PATH}, {@code HOME}, {@code USER}, {@code LANG}, {@code LC_ALL}, {@code TZ} and
     * {@code TMPDIR}.
     *
     * @param variable letters, digits and underscores; names that begin with {@code MILLRACE_} are the pool's
     * @param value its value, without NUL
     * @return this builder
     * @throws IllegalArgumentException if it is not allowed
     */
    public ProcessPoolBuilder environment(String variable, String value) {
        if (!VARIABLE.matcher(variable).matches() || variable.startsWith("MILLRACE_")) {
            throw refused("environment", "\"" + variable + "\"", "a name that does not begin with MILLRACE_");
        }
        if (value.indexOf('\0') >= 0) {
            throw refused("environment", "a NUL character in " + variable, "text without it");
        }
        environment.put(variable, value);
        return this;
    }

    /**
     * Streams what processes print to the logs of their jobs, line by line; by default it is only kept in files.
     *
     * @param store the logs, such as {@code Millrace.logs()}
     * @return this builder
     */
    public ProcessPoolBuilder logs(JobLogStore store) {
        this.logs = store;
        return this;
    }

    /**
     * How many lines of an attempt are streamed; 2,000 by default. Of more than that the log gets the last ones once
     * the process has ended.
     *
     * @param lines 1 to 8,000
     * @return this builder
     * @throws IllegalArgumentException if it is not allowed
     */
    public ProcessPoolBuilder maxLogLines(int lines) {
        this.maxLogLines = number("maxLogLines", lines, MOST_LINES);
        return this;
    }

    /**
     * How many processes run at a time; 4 by default. Further jobs stay queued.
     *
     * @param processes 1 to 1,000
     * @return this builder
     * @throws IllegalArgumentException if it is not allowed
     */
    public ProcessPoolBuilder maxProcesses(int processes) {
        this.maxProcesses = number("maxProcesses", processes, MOST_PROCESSES);
        return this;
    }

    /**
     * How long a process that is to be cancelled, and was sent TERM, has until it is sent KILL; 10 s by default.
     *
     * @param grace zero to an hour
     * @return this builder
     * @throws IllegalArgumentException if it is not allowed
     */
    public ProcessPoolBuilder killAfter(Duration grace) {
        if (grace.isNegative() || grace.compareTo(Duration.ofHours(1)) > 0) {
            throw refused("killAfter", grace.toString(), "a duration from zero to an hour");
        }
        this.killAfter = grace;
        return this;
    }

    /**
     * How long the folder of an attempt is kept, with what it has printed and written, after its job's reconciler was told
     * of its end; a day by default. One whose end nobody asks for, since its job is gone, is kept for 30 days longer, so
     * that an outage of the database doesn't cost what has ended meanwhile.
     *
     * @param time a minute to a year
     * @return this builder
     * @throws IllegalArgumentException if it is not allowed
     */
    public ProcessPoolBuilder keepFor(Duration time) {
        if (time.compareTo(Duration.ofMinutes(1)) < 0 || time.compareTo(Duration.ofDays(366)) > 0) {
            throw refused("keepFor", time.toString(), "a duration from a minute to a year");
        }
        this.keepFor = time;
        return this;
    }

    /**
     * Opens the pool, finds the processes again that an earlier one of this folder has left, and goes on with them.
     *
     * @return the pool, to be closed by the caller
     * @throws IllegalStateException if the folder can't be used, another pool has it, or this is no POSIX system; the
     *     message says what to do
     */
    public ProcessPool open() {
        return new ProcessPool(this).started();
    }

    private static int number(String setting, int value, int most) {
        if (value < 1 || value > most) {
            throw refused(setting, String.valueOf(value), "a whole number from 1 to " + most);
        }
        return value;
    }

    private static IllegalArgumentException refused(String setting, String found, String allowed) {
        return new IllegalArgumentException(
                "Invalid setting " + setting + " of a process pool: found " + found + ", allowed is " + allowed + ".");
    }
}
