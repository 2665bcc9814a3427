package dev.millrace.backend;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is known of one attempt, as files in a folder of the attempt's token, so that it outlives this JVM:
 *
 * <pre>
 * operation.properties  which attempt of which job; there from the start on
 * parameters.json       the job's parameters, the process's standard input
 * work/                 the process's working folder
 * started/              made by whoever runs the process, or keeps it from being run: only one can
 * pid                   of the wrapper, written by itself
 * process.properties    pid and start instant, as this library has seen them
 * stdout, stderr        what the process has printed
 * exit                  its exit code, written by the wrapper; or in a word how it ended otherwise
 * cancel                it is to be cancelled
 * told                  changed when someone was told how it ended
 * streamed.properties   how much of the output is in the job's log
 * </pre>
 *
 * Files that are read by others appear whole, by renaming.
 */
final class OperationFolder {
    private static final Logger LOG = LoggerFactory.getLogger(OperationFolder.class);
    private static final String NEW = ".new-";
    private static final String DISCARDED = ".old-";

    private final Path folder;
    private final UUID token;
    private final String jobId;
    private final int attempt;
    private final String kind;

    private OperationFolder(Path folder, UUID token, Properties operation) {
        this.folder = folder;
        this.token = token;
        this.jobId = operation.getProperty("job", "");
        this.attempt = Integer.parseInt(operation.getProperty("attempt", "0"));
        this.kind = operation.getProperty("kind", "");
    }

    /** A new one, whole or not at all; the one that is there if there is one. */
    static OperationFolder create(Path root, RemoteOperation operation, String kind, String parameters)
            throws IOException {
        UUID token = operation.token();
        Path folder = root.resolve(token.toString());
        if (!Files.exists(folder)) {
            Path part = Files.createTempDirectory(root, NEW);
            Files.createDirectory(part.resolve("work"));
            Files.writeString(part.resolve("parameters.json"), parameters);
            Properties properties = new Properties();
            properties.setProperty("job", operation.jobId());
            properties.setProperty("attempt", String.valueOf(operation.attempt()));
            properties.setProperty("kind", kind);
            store(part.resolve("operation.properties"), properties);
            Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
        }
        return open(folder);
    }

    /** One that is there. */
    static OperationFolder open(Path folder) throws IOException {
        UUID token = UUID.fromString(folder.getFileName().toString());
        return new OperationFolder(folder, token, load(folder.resolve("operation.properties")));
    }

    RemoteOperation operation() {
        return new RemoteOperation(jobId, attempt, token, token.toString());
    }

    String kind() {
        return kind;
    }

    Path path() {
        return folder;
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    /** Whether somebody runs it, has run it, or keeps it from being run. */
    boolean isStarted() {
        return Files.exists(file("started"));
    }

    /** Keeps it from being run; false if it is. */
    boolean preventStart() throws IOException {
        try {
            Files.createDirectory(file("started"));
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    boolean isToBeCancelled() {
        return Files.exists(file("cancel"));
    }

    void cancel() throws IOException {
        write("cancel", Instant.now().toString());
    }

    /** How it ended: an exit code, or a word; null if it has not, as far as anybody has written that down. */
    @Nullable
    String exit() throws IOException {
        return read("exit");
    }

    void writeExit(String how) throws IOException {
        write("exit", how);
    }

    /** The wrapper's process, if it is there and alive; empty also if its pid is not known yet. */
    Optional<ProcessHandle> process() throws IOException {
        String pid = read("pid");
        if (pid == null) {
            return Optional.empty();
        }
        Optional<ProcessIdentity> found = ProcessIdentity.of(Long.parseLong(pid));
        return found.isPresent() && isOurs(found.get())
                ? ProcessHandle.of(found.get().pid())
                : Optional.empty();
    }

    /** What it is, is written down when it is first seen. */
    private boolean isOurs(ProcessIdentity found) throws IOException {
        Path file = file("process.properties");
        if (Files.exists(file)) {
            return found.isSame(ProcessIdentity.of(load(file)));
        }
        if (!found.wrote(file("pid"), folder)) {
            return false;
        }
        Path part = file("process.properties.part");
        store(part, found.toProperties());
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        return true;
    }

    boolean hasPid() {
        return Files.exists(file("pid"));
    }

    Properties streamed() throws IOException {
        Path file = file("streamed.properties");
        return Files.exists(file) ? load(file) : new Properties();
    }

    void writeStreamed(Properties properties) throws IOException {
        Path part = file("streamed.properties.part");
        store(part, properties);
        Files.move(part, file("streamed.properties"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** When its end was written down, by the clock of the files. */
    Instant endedAt() throws IOException {
        return Files.getLastModifiedTime(file("exit")).toInstant();
    }

    /** When its end was told for the last time; null if it never was. */
    @Nullable
    Instant toldAt() throws IOException {
        try {
            return Files.getLastModifiedTime(file("told")).toInstant();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Its end is told now. If that can't be written down, the folder may be kept for longer after a restart. */
    void noteTold() {
        try {
            Files.writeString(file("told"), Instant.now().toString());
        } catch (IOException e) {
            LOG.debug("That the end of \"{}\" is told could not be written down.", folder, e);
        }
    }

    /** Takes it away, so that it is as if it had never been; what is in it stays until {@link #deleteDiscarded}. */
    void discard() throws IOException {
        Files.move(folder, discarded(), StandardCopyOption.ATOMIC_MOVE);
    }

    void deleteDiscarded() throws IOException {
        delete(discarded());
    }

    private Path discarded() {
        return folder.resolveSibling(DISCARDED + token);
    }

    /** Whether it is what a JVM that died has left of one that was being created or deleted. */
    static boolean isRemnant(Path folder) {
        String name = folder.getFileName().toString();
        return name.startsWith(NEW) || name.startsWith(DISCARDED);
    }

    static void delete(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> tree = Files.walk(folder)) {
            all = tree.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.deleteIfExists(path);
        }
    }

    private @Nullable String read(String name) throws IOException {
        try {
            return Files.readString(file(name)).strip();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void write(String name, String text) throws IOException {
        Path part = file(name + ".part");
        Files.writeString(part, text);
        Files.move(part, file(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static Properties load(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return properties;
    }

    private static void store(Path file, Properties properties) throws IOException {
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
    }
}
