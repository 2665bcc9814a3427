package dev.millrace.backend;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of a pool, for this JVM alone as long as it is open: two pools would each start what the other one has.
 */
final class PoolFolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PoolFolder.class);

    private final Path path;
    private final FileChannel channel;

    private PoolFolder(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    static PoolFolder open(Path path) {
        boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                && Files.isExecutable(Path.of("/bin/sh"));
        if (!posix) {
            throw new IllegalStateException("A process pool needs a POSIX system with /bin/sh; this one, "
                    + System.getProperty("os.name") + ", is none. Use another backend here.");
        }
        FileChannel channel = null;
        try {
            // Parameters of jobs lie in it.
            Files.createDirectories(
                    path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            channel = FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = tryLock(channel);
            if (lock == null) {
                channel.close();
                throw new IllegalStateException("Another process pool, of this or another JVM, has the folder \"" + path
                        + "\". Give each a folder and a name of its own, or close the other one.");
            }
            return new PoolFolder(path, channel);
        } catch (IOException e) {
            closeQuietly(channel);
            throw new IllegalStateException(
                    "The folder \"" + path + "\" of a process pool can't be used: " + e + ". It must be writable.", e);
        }
    }

    @SuppressWarnings("UnusedException") // it says that there is no lock to be had, as null does
    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    Path path() {
        return path;
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
                LOG.warn("The folder \"{}\" is none of an attempt, and is left alone.", folder, e);
            }
        }
        return found;
    }

    /** Others may have it from now on. */
    @Override
    public void close() {
        closeQuietly(channel);
    }

    private static void closeQuietly(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.debug("A lock could not be closed.", e);
        }
    }
}
