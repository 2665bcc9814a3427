package dev.millrace.devdb;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of one embedded server or PgBouncer: its files, its log, and a lock that says that its owner is alive.
 *
 * <p>The operating system releases the lock when the owner ends, however it ends. A folder whose lock can be taken is
 * therefore an orphan, and the next start of the same user ends its server and deletes it. The folders of one's own
 * process are told by the process id in their names and not even looked at: on POSIX systems, closing any channel of a
 * file gives up all locks that the process holds on it.
 */
final class ServerFolder {

    private static final Logger LOG = LoggerFactory.getLogger(ServerFolder.class);
    private static final String PREFIX = "server-";
    private static final String OWN_PREFIX = PREFIX + ProcessHandle.current().pid() + "-";
    private static final String LOCK = "owner.lock";

    private final Path path;
    private final FileChannel lockChannel;

    private ServerFolder(Path path, FileChannel lockChannel) {
        this.path = path;
        this.lockChannel = lockChannel;
    }

    /** The folder of this user for programs and servers, below the temporary folder. */
    static Path root() throws IOException {
        String user = System.getProperty("user.name", "unknown").replaceAll("[^A-Za-z0-9_.-]", "_");
        Path root = Path.of(System.getProperty("java.io.tmpdir"), "millrace-devdb-" + user);
        return Files.createDirectories(root);
    }

    static ServerFolder create(Path root) throws IOException {
        for (int attempt = 0; attempt < 10; attempt++) {
            Path path = Files.createTempDirectory(root, OWN_PREFIX);
            FileChannel channel =
                    FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (channel.tryLock() != null) {
                return new ServerFolder(path, channel);
            }
            // A sweep of another process came between the two lines above, and now deletes it.
            channel.close();
        }
        throw new IOException("No folder could be locked below " + root);
    }

    Path data() {
        return path.resolve("data");
    }

    Path path() {
        return path;
    }

    Path log() {
        return path.resolve("server.log");
    }

    void delete() throws IOException {
        lockChannel.close();
        Folders.deleteIfPresent(path);
    }

    /** Ends and deletes what processes left behind that could not clean up, for instance because they were killed. */
    static void deleteOrphans(Path root, Consumer<Path> stopServerOf) throws IOException {
        List<Path> folders;
        try (Stream<Path> children = Files.list(root)) {
            folders = children.filter(ServerFolder::isOfAnotherProcess).toList();
        }
        for (Path folder : folders) {
            deleteIfOrphan(folder, stopServerOf);
        }
    }

    private static boolean isOfAnotherProcess(Path folder) {
        String name = String.valueOf(folder.getFileName());
        return name.startsWith(PREFIX) && !name.startsWith(OWN_PREFIX);
    }

    private static void deleteIfOrphan(Path folder, Consumer<Path> stopServerOf) {
        // WRITE without CREATE: a folder that has no lock yet is one that is just being made.
        try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock != null) {
                Path data = folder.resolve("data");
                if (Files.exists(data.resolve("postmaster.pid"))) {
                    stopServerOf.accept(data);
                }
                Folders.deleteIfPresent(folder);
                LOG.debug("Deleted {}, whose owner is gone", folder);
            }
        } catch (IOException | OverlappingFileLockException | DevDatabaseException e) {
            // Another process or thread may be deleting it right now; if not, the next start tries again.
            LOG.debug("Could not delete {}, whose owner is gone", folder, e);
        }
    }
}
