package dev.millrace.examples.digests;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What looking at one file has shown. */
sealed interface Finding {
    /**
     * The file could be read.
     *
     * @param sha256 the digest of its content, in hex
     * @param bytes its length before it was read
     * @param modified its time of modification before it was read
     */
    record Digest(String sha256, long bytes, String modified) implements Finding {
        /** Whether both are of the same content, or at least of a file that looks untouched. */
        boolean sameFileAs(Digest other) {
            return bytes == other.bytes && modified.equals(other.modified);
        }
    }

    /** The file could not be read, which no further attempt would change. */
    record Unreadable(String why) implements Finding {}

    /**
     * Looks at the file.
     *
     * @throws IOException if reading failed in a way that may pass
     */
    static Finding of(Path file) throws IOException {
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Digest(
                    sha256(file),
                    attributes.size(),
                    attributes.lastModifiedTime().toString());
        } catch (NoSuchFileException e) {
            return new Unreadable("it is gone");
        } catch (AccessDeniedException e) {
            return new Unreadable("access is denied");
        }
    }

    private static String sha256(Path file) throws IOException {
        MessageDigest digest = sha256();
        byte[] buffer = new byte[64 * 1024];
        try (InputStream in = Files.newInputStream(file)) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                digest.update(buffer, 0, length);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }
}
