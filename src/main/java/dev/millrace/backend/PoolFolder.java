package dev.millrace.backend;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of a pool, for this JVM alone as long as it is open: two pools would each start what the other one has.
 */
final class PoolFolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PoolFolder.class);

    /**
     * The folders that pools of this JVM have. The lock of the file is the process's, not the channel's: whoever closes
     * another channel of it, as the second pool did that found it locked, would give it away.
     */
    private static final Set<Object> OPEN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final Object key;
    private final FileChannel channel;

    private PoolFolder(Path path, Object key, FileChannel channel) {
        this.path = path;
        this.key = key;
        this.channel = channel;
    }

    static PoolFolder open(Path path) {
        boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                && Files.isExecutable(Path.of("/bin/sh"));
        if (!posix) {
            throw new IllegalStateException("A process pool needs a POSIX system with /bin/sh; this one, "
                    + System.getProperty("os.name") + ", is none. Use another backend here.");
        }
        try {
            // Parameters of jobs lie in it.
            Files.createDirectories(
                    path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            // Not the path, of which one folder may have several.
            Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
            if (!OPEN.add(key)) {
                throw taken(path, "of this JVM", null);
            }
            return open(path, key);
        } catch (IOException e) {
            throw new IllegalStateException(
                    "The folder \"" + path + "\" of a process pool can't be used: " + e + ". It must be writable.", e);
        }
    }

    private static PoolFolder open(Path path, Object key) throws IOException {
        FileChannel locked = null;
        try {
            locked = lock(path);
            return new PoolFolder(path, key, locked);
        } finally {
            if (locked == null) {
                OPEN.remove(key);
            }
        }
    }

    private static FileChannel lock(Path path) throws IOException {
        FileChannel channel =
                FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException e) {
            OPEN.add(channel); // never to be closed: the other pool is of this library as well, loaded a second time
            throw taken(path, "of this JVM", e);
        } catch (IOException e) {
            closeQuietly(channel);
            throw e;
        }
        closeQuietly(channel);
        throw taken(path, "of another JVM", null);
    }

    private static IllegalStateException taken(Path path, String whose, @Nullable Throwable cause) {
        return new IllegalStateException(
                "Another process pool, " + whose + ", has the folder \"" + path
                        + "\". Give each a folder and a name of its own, or close the other one.",
                cause);
    }

    Path path() {
        return path;
    }

    /** Whether there is a folder of this name. */
    boolean has(UUID token) {
        return Files.exists(path.resolve(token.toString()));
    }

    /** What an earlier pool has left. What can't be read is left as it is, and said. */
    List<OperationFolder> operations() throws IOException {
        List<OperationFolder> found = new ArrayList<>();
        List<Path> folders;
        try (Stream<Path> all = Files.list(path)) {
            folders = all.filter(Files::isDirectory).toList();
        }
        for (Path folder : folders) {
            try {
                if (OperationFolder.isRemnant(folder)) {
                    OperationFolder.delete(folder); // if of a start, that comes again
                } else {
                    found.add(OperationFolder.open(folder));
                }
            } catch (IOException | RuntimeException e) {
                LOG.warn(
                        "The folder \"{}\" is none of an attempt, or was torn by a loss of power. It is left alone: its"
                                + " attempt, if it is one, counts as gone, and is retried. Delete the folder by hand.",
                        folder,
                        e);
            }
        }
        return found;
    }

    /** Others may have it from now on. */
    @Override
    public void close() {
        if (channel.isOpen()) {
            closeQuietly(channel);
            OPEN.remove(key);
        }
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A lock could not be closed.", e);
        }
    }
}
