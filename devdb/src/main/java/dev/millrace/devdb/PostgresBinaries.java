package dev.millrace.devdb;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacks the server's programs, once for each archive and user.
 *
 * <p>An archive is unpacked beside its final place and then moved there in one step, so that processes that start
 * together need no lock and never see half of it. What was unpacked earlier is used again only while it still has all
 * its files, because others tidy up temporary folders. If it has not, it is left alone (servers may run from it) and the
 * archive is unpacked once more beside it.
 */
final class PostgresBinaries {

    private static final String COMPLETE = "complete";

    private PostgresBinaries() {}

    /** Returns the folder that holds {@code bin}, {@code lib} and {@code share}. */
    static Path unpackInto(Path root) {
        return unpackInto(root, Platform.current());
    }

    static Path unpackInto(Path root, Platform platform) {
        byte[] archive = readArchive(platform);
        String name = "postgres-" + digest(archive).substring(0, 16);
        try {
            for (int copy = 1; ; copy++) {
                Path home = root.resolve(copy == 1 ? name : name + "-" + copy);
                if (!Files.exists(home)) {
                    unpack(archive, root, home);
                }
                if (isComplete(home)) {
                    return home;
                }
            }
        } catch (IOException e) {
            throw new DevDatabaseException("The PostgreSQL programs could not be unpacked into " + root + ".", e);
        }
    }

    private static byte[] readArchive(Platform platform) {
        String name = platform.archive();
        try (InputStream in = PostgresBinaries.class.getClassLoader().getResourceAsStream(name)) {
            if (in == null) {
                throw new DevDatabaseException("There are no PostgreSQL programs for this platform on the class path: "
                        + name + " was not found. " + remedy(platform));
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new DevDatabaseException("The PostgreSQL programs in " + name + " could not be read.", e);
        }
    }

    private static String remedy(Platform platform) {
        return platform.artifact()
                .map(artifact -> "Add the dependency " + artifact + " in a version from 15 to 18, or name a server with"
                        + " the setting " + Settings.URL + ".")
                .orElseGet(() -> "None are known for it: name a server with the setting " + Settings.URL + ".");
    }

    private static void unpack(byte[] archive, Path root, Path home) throws IOException {
        Path scratch = Files.createTempDirectory(root, "unpacking-");
        try {
            int files = extract(archive, scratch);
            Files.writeString(scratch.resolve(COMPLETE), Integer.toString(files));
            Files.move(scratch, home, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            if (!Files.exists(home)) {
                throw e;
            }
            // Another process was faster, with the same files.
        } finally {
            Folders.deleteIfPresent(scratch);
        }
    }

    private static int extract(byte[] archive, Path target) throws IOException {
        Path programs = target.resolve("bin");
        int files = 0;
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new XZInputStream(new ByteArrayInputStream(archive)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path path = target.resolve(entry.getName()).normalize();
                if (!path.startsWith(target)) {
                    throw new IOException("The archive names a file outside of its folder: " + entry.getName());
                }
                if (entry.isDirectory()) {
                    Files.createDirectories(path);
                    continue;
                }
                Files.createDirectories(path.getParent());
                if (entry.isSymbolicLink() || entry.isLink()) {
                    Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
                } else {
                    Files.copy(tar, path);
                    if (path.startsWith(programs) && !path.toFile().setExecutable(true, false)) {
                        throw new IOException("Could not make executable: " + path);
                    }
                }
                files++;
            }
        }
        return files;
    }

    private static boolean isComplete(Path home) throws IOException {
        Path marker = home.resolve(COMPLETE);
        if (!Files.isRegularFile(marker)) {
            return false;
        }
        try (Stream<Path> tree = Files.walk(home)) {
            long files = tree.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .count();
            return files - 1 == Integer.parseInt(Files.readString(marker));
        }
    }

    private static String digest(byte[] archive) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(archive));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
