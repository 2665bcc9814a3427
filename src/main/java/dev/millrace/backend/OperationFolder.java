package dev.millrace.backend;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import java.util.regex.Pattern;
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
 * Files that are read by others appear whole, by renaming, and those of ours are on the disk by then. What can't be read
 * nevertheless counts as not there.
 */
final class OperationFolder {
    private static final Logger LOG = LoggerFactory.getLogger(OperationFolder.class);
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
    private static final String NEW = ".new-";
    private static final String DISCARDED = ".old-";

    private final Path folder;
    private final RemoteOperation operation;
    private final String kind;

    private OperationFolder(Path folder, UUID token, String jobId, String attempt, String kind) {
        this.folder = folder;
        this.operation = new RemoteOperation(jobId, Integer.parseInt(attempt), token, token.toString());
        this.kind = kind;
    }

    /** A new one, whole or not at all; the one that is there if there is one. */
    static OperationFolder create(Path root, RemoteOperation operation, String kind, String parameters)
            throws IOException {
        UUID token = operation.token();
        Path folder = root.resolve(token.toString());
        if (!Files.exists(folder)) {
            Path part = Files.createTempDirectory(root, NEW);
            try {
                fill(part, operation, kind, parameters);
                Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException | RuntimeException e) {
                discard(part, e);
                throw e;
            }
            sync(root);
        }
        return open(folder);
    }

    private static void fill(Path part, RemoteOperation operation, String kind, String parameters) throws IOException {
        Files.createDirectory(part.resolve("work"));
        write(part.resolve("parameters.json"), parameters);
        Properties properties = new Properties();
        properties.setProperty("job", operation.jobId());
        properties.setProperty("attempt", String.valueOf(operation.attempt()));
        properties.setProperty("kind", kind);
        write(part.resolve("operation.properties"), properties);
        sync(part);
    }

    /** What could not be written, on a full disk for instance, must not fill it further each time that it is tried. */
    private static void discard(Path part, Exception failure) {
        try {
            delete(part);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * One that is there.
     *
     * @throws IOException if it can't be read
     * @throws IllegalArgumentException if it is none, or what is in it makes no sense
     */
    static OperationFolder open(Path folder) throws IOException {
        UUID token = UUID.fromString(folder.getFileName().toString());
        Properties properties = load(folder.resolve("operation.properties"));
        return new OperationFolder(
                folder,
                token,
                properties.getProperty("job", ""),
                properties.getProperty("attempt", ""),
                properties.getProperty("kind", ""));
    }

    RemoteOperation operation() {
        return operation;
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
            sync(folder);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    boolean isToBeCancelled() {
        return Files.exists(file("cancel"));
    }

    void cancel() throws IOException {
        write(file("cancel"), Instant.now().toString());
        sync(folder);
    }

    /** How it ended: an exit code, or a word; null if it has not, as far as anybody has written that down. */
    @Nullable
    String exit() throws IOException {
        return read("exit");
    }

    void writeExit(String how) throws IOException {
        write(file("exit"), how);
        sync(folder);
    }

    /** The wrapper's process, if it is there and alive; empty also if its pid is not known yet. */
    Optional<ProcessHandle> process() throws IOException {
        String pid = read("pid");
        if (pid == null || !NUMBER.matcher(pid).matches()) {
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
        Properties written = load(file);
        if (written.containsKey("pid")) {
            return found.isSame(ProcessIdentity.of(written));
        }
        if (!found.wrote(file("pid"), folder)) {
            return false;
        }
        write(file, found.toProperties());
        return true;
    }

    boolean hasPid() {
        return Files.exists(file("pid"));
    }

    Properties streamed() throws IOException {
        return load(file("streamed.properties"));
    }

    void writeStreamed(Properties properties) throws IOException {
        write(file("streamed.properties"), properties);
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
        return folder.resolveSibling(DISCARDED + operation.token());
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

    private static void write(Path file, Properties properties) throws IOException {
        StringWriter text = new StringWriter();
        properties.store(text, null);
        write(file, text.toString());
    }

    /** Whole or not at all, also after a power loss: it is on the disk before it gets its name. */
    private static void write(Path file, String text) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try (FileChannel channel = FileChannel.open(
                part, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Has the names in a folder on the disk. */
    private static void sync(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder)) {
            channel.force(true);
        }
    }

    /** Empty if the file is not there, or no such file. */
    @SuppressWarnings("UnusedException") // what it says is what an empty answer says
    private static Properties load(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
            return properties;
        } catch (NoSuchFileException | CharacterCodingException | IllegalArgumentException e) {
            return new Properties();
        }
    }
}
