package dev.millrace.backend;

import dev.millrace.job.InvalidJobException;
import dev.millrace.types.JsonText;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a pool, as this JVM looks after it. All that must outlive the JVM is in the {@link OperationFolder}.
 * Guarded by the pool's lock, but for {@link #stream}.
 */
final class PoolEntry {
    /** The wrapper needs a moment to say its pid; one that has not by then never will. */
    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    /** What did not get into the job's log by then, because there is no database, does not keep the job from ending. */
    private static final Duration LONGEST_DRAIN = Duration.ofSeconds(10);

    /** Whose end nobody has asked for by then is nobody's any more: its job is gone, or was given up. */
    private static final Duration LONGEST_UNTOLD = Duration.ofDays(30);

    private static final Pattern EXIT_CODE = Pattern.compile("[0-9]{1,3}");
    private static final String CANCELLED = "cancelled";
    private static final String VANISHED = "vanished";
    private static final int SIGNALS = 128;
    private static final int NOT_EXECUTABLE = 126;
    private static final int NOT_FOUND = 127;
    private static final int PROGRESS_BYTES = 4_096;
    private static final int STDERR_LINES = 20;
    private static final int MAX_RESULT = 1024 * 1024;

    final OperationFolder folder;
    private @Nullable Long launchedAt;
    private @Nullable Long startingSince;
    private @Nullable Long termSentAt;
    private boolean hasEnded;
    private @Nullable Instant keepFrom;
    private volatile @Nullable Long endedSince;
    private volatile boolean drained;
    private @Nullable Observation end;

    PoolEntry(OperationFolder folder) {
        this.folder = folder;
    }

    enum State {
        WAITING,
        RUNNING,
        ENDED
    }

    /** Where it stands, by what its files and the system say; writes down an end that nobody else can. */
    State state(long now) throws IOException {
        if (hasEnded || folder.exit() != null) {
            hasEnded = true;
            return State.ENDED;
        }
        if (!folder.isStarted()) {
            boolean underWay = launchedAt != null && now - launchedAt < LONGEST_START.toNanos();
            return underWay ? State.RUNNING : State.WAITING;
        }
        // In this order: the wrapper says who it is after it has begun, and writes the exit code before it ends. Asked
        // later
        // whether it has said so, one that has said it just now would look as if it had ended.
        boolean saidWhoItIs = folder.hasPid();
        if (folder.process().isPresent()) {
            return State.RUNNING;
        }
        if (folder.exit() != null) {
            return State.ENDED;
        }
        if (saidWhoItIs || isLate(now)) {
            folder.writeExit(VANISHED);
            return State.ENDED;
        }
        return State.RUNNING;
    }

    private boolean isLate(long now) {
        if (startingSince == null) {
            startingSince = now;
        }
        return now - startingSince > LONGEST_START.toNanos();
    }

    boolean isStarted() {
        return hasEnded || folder.isStarted();
    }

    /** Its wrapper was started. Until it says so itself nobody knows whether it comes to that. */
    void launched(long now) {
        launchedAt = now;
    }

    /** Has it end: one that has not begun never will, one that runs is sent TERM and, after the grace, KILL. */
    void cancel(long now, Duration killAfter) throws IOException {
        if (!folder.isStarted()) {
            if (folder.preventStart()) {
                folder.writeExit(CANCELLED);
            }
            return;
        }
        Optional<ProcessHandle> wrapper = folder.process();
        if (wrapper.isEmpty()) {
            return;
        }
        // All but the wrapper, which stays to write the exit code.
        if (termSentAt == null) {
            if (wrapper.get().descendants().filter(ProcessHandle::destroy).count() > 0) {
                termSentAt = now;
            }
        } else if (now - termSentAt >= killAfter.toNanos()) {
            wrapper.get().descendants().forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** Takes note of its end. */
    void look(State state, long now) {
        if (state == State.ENDED && endedSince == null) {
            endedSince = now;
        }
    }

    boolean isDrained() {
        return drained;
    }

    /** Sends what it has printed; not under the pool's lock, since it waits for a database. */
    void stream(@Nullable OutputLog log, State state) throws IOException {
        boolean ended = state == State.ENDED;
        drained = log == null ? ended : log.stream(folder, ended);
    }

    private boolean isDrained(long now) {
        Long since = endedSince;
        return drained || (since != null && now - since > LONGEST_DRAIN.toNanos());
    }

    /** What the pool says of it. */
    Observation observe(State state, long now) throws IOException {
        if (state == State.WAITING) {
            return new Observation.Running(null, "Waiting for a process to end");
        }
        if (state == State.RUNNING || !isDrained(now)) {
            return progress();
        }
        Observation how = end;
        if (how == null) {
            how = ended(folder.exit());
            end = how;
        }
        keepFrom = Instant.now();
        folder.noteTold();
        return how;
    }

    private Observation ended(@Nullable String exit) throws IOException {
        if ("0".equals(exit)) {
            return succeeded();
        }
        if (CANCELLED.equals(exit) || folder.isToBeCancelled()) {
            return new Observation.Cancelled();
        }
        if (exit == null || !EXIT_CODE.matcher(exit).matches()) { // vanished, or written when the power went
            return new Observation.Failed(
                    "The process ended without an exit code: it was killed together with what waits for it, or the machine"
                            + " was restarted." + stderr(),
                    Retrying.ALLOWED);
        }
        int code = Integer.parseInt(exit);
        boolean unusable = code == NOT_EXECUTABLE || code == NOT_FOUND;
        String how = code > SIGNALS ? "Ended by signal " + (code - SIGNALS) : "Exit code " + code;
        return new Observation.Failed(
                how + (unusable ? ": the program could not be executed." : ".") + stderr(),
                unusable ? Retrying.POINTLESS : Retrying.ALLOWED);
    }

    private String stderr() throws IOException {
        StringBuilder text = new StringBuilder();
        for (OutputTail.Line line : OutputTail.last(folder.file("stderr"), 0, STDERR_LINES)) {
            text.append('\n').append(line.text());
        }
        return text.isEmpty() ? "" : " It said:" + text;
    }

    private Observation succeeded() throws IOException {
        Path file = folder.file("result.json");
        if (!Files.exists(file)) {
            return Observation.Succeeded.PLAINLY;
        }
        if (Files.size(file) > MAX_RESULT) {
            return new Observation.Failed(
                    "The process succeeded, but its result has " + Files.size(file) + " bytes; allowed are "
                            + MAX_RESULT + ". Let it keep large output elsewhere, and leave a reference.",
                    Retrying.POINTLESS);
        }
        try {
            String text = Files.readString(file).strip();
            return text.isEmpty()
                    ? Observation.Succeeded.PLAINLY
                    : new Observation.Succeeded(JsonText.of(text), List.of());
        } catch (IllegalArgumentException | CharacterCodingException e) {
            return new Observation.Failed(
                    "The process succeeded, but what it wrote to MILLRACE_RESULT_FILE is no JSON in UTF-8: "
                            + e.getMessage(),
                    Retrying.POINTLESS);
        }
    }

    /** The last line of its file of progress, such as {@code 42.5 compiling}; what makes no sense says nothing. */
    private Observation progress() throws IOException {
        Path file = folder.file("progress");
        if (!Files.exists(file)) {
            return new Observation.Running(null, "Running");
        }
        long from = Math.max(0, Files.size(file) - PROGRESS_BYTES);
        String last = "";
        for (OutputTail.Line line : OutputTail.read(file, from, Integer.MAX_VALUE, true)) {
            last = line.text().isBlank() ? last : line.text().strip();
        }
        String[] words = last.split("\\s+", 2);
        Double percent = percent(words[0]);
        String phase = percent == null ? last : words.length > 1 ? words[1] : "";
        try {
            return new Observation.Running(percent, phase.isEmpty() ? "Running" : phase);
        } catch (InvalidJobException e) {
            return new Observation.Running(percent, "Running");
        }
    }

    private static @Nullable Double percent(String word) {
        try {
            double percent = Double.parseDouble(word.toLowerCase(Locale.ROOT).replace("%", ""));
            return percent >= 0 && percent <= 100 ? percent : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /**
     * Whether nothing is left to be done for it, and its end was told for the last time before this. In an outage of the
     * database nobody asks, so that it ended long ago is no reason.
     */
    boolean isOver(long now, Instant before) throws IOException {
        if (endedSince == null || !isDrained(now)) {
            return false;
        }
        if (keepFrom == null) {
            Instant told = folder.toldAt();
            keepFrom = told == null ? folder.endedAt().plus(LONGEST_UNTOLD) : told;
        }
        return keepFrom.isBefore(before);
    }
}
