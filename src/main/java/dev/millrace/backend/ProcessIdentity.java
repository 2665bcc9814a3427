package dev.millrace.backend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * What tells a process from a later one that has the same pid: when it started, as the system tells it. Where there is
 * {@code /proc}, also in ticks since which boot, which no change of the clock moves.
 *
 * @param startInstant by the clock; null on a system that doesn't tell
 * @param sinceBoot the boot and the ticks since then; null if that is not known
 */
record ProcessIdentity(
        long pid, @Nullable Instant startInstant, @Nullable String sinceBoot) {
    /** Start instants of the same process differ a little from JVM to JVM. */
    private static final long TOLERANCE_MILLIS = 2_000;

    private static final Path PROC = Path.of("/proc");
    private static final Path BOOT = PROC.resolve("sys/kernel/random/boot_id");

    /** In {@code /proc/PID/stat}, counted from behind the name of the program, which may hold anything. */
    private static final int STATE = 0;

    private static final int START_TICKS = 19;

    /**
     * Of a process that is alive; empty if there is none, or one that has ended and that its parent has not asked for
     * yet.
     */
    static Optional<ProcessIdentity> of(long pid) {
        Optional<ProcessHandle> handle = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
        if (handle.isEmpty()) {
            return Optional.empty();
        }
        String[] stat = stat(pid);
        if (stat.length > STATE && stat[STATE].equals("Z")) {
            return Optional.empty();
        }
        Instant started = handle.get().info().startInstant().orElse(null);
        return Optional.of(new ProcessIdentity(pid, started, sinceBoot(stat)));
    }

    private static String[] stat(long pid) {
        try {
            String text = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
            return text.substring(text.lastIndexOf(')') + 1).strip().split(" ");
        } catch (IOException e) {
            return new String[0]; // another system, or the process has just ended
        }
    }

    private static @Nullable String sinceBoot(String[] stat) {
        try {
            return stat.length > START_TICKS ? Files.readString(BOOT).strip() + "+" + stat[START_TICKS] : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Whether this is the process that was written down. */
    boolean isSame(ProcessIdentity written) {
        if (pid != written.pid) {
            return false;
        }
        if (sinceBoot != null && written.sinceBoot != null) {
            return sinceBoot.equals(written.sinceBoot);
        }
        return startInstant == null || written.startInstant == null || isNear(written.startInstant);
    }

    /**
     * Whether this is the process that wrote this file as the first thing it did, before anybody has written down what
     * it is: it has its folder among its arguments, or is as old as the file. One that has the pid after it is younger.
     */
    boolean wrote(Path file, Path folder) throws IOException {
        Optional<String[]> arguments =
                ProcessHandle.of(pid).flatMap(its -> its.info().arguments());
        if (arguments.isPresent()) {
            return Arrays.asList(arguments.get()).contains(folder.toString());
        }
        return startInstant == null || isNear(Files.getLastModifiedTime(file).toInstant());
    }

    private boolean isNear(Instant other) {
        return startInstant != null && Math.abs(startInstant.toEpochMilli() - other.toEpochMilli()) <= TOLERANCE_MILLIS;
    }

    Properties toProperties() {
        Properties properties = new Properties();
        properties.setProperty("pid", String.valueOf(pid));
        if (startInstant != null) {
            properties.setProperty("startInstant", startInstant.toString());
        }
        if (sinceBoot != null) {
            properties.setProperty("sinceBoot", sinceBoot);
        }
        return properties;
    }

    static ProcessIdentity of(Properties properties) {
        String started = properties.getProperty("startInstant");
        return new ProcessIdentity(
                Long.parseLong(properties.getProperty("pid")),
                started == null ? null : Instant.parse(started),
                properties.getProperty("sinceBoot"));
    }
}
