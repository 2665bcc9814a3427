package dev.millrace.examples.digests;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The regular files below a directory, and how many entries are no such thing.
 *
 * @param files the files, as absolute paths
 * @param links symbolic links, which are not followed
 * @param unreadable files and directories that could not be opened, and files whose names this JVM can't write as text
 * @param others devices, sockets and the like
 */
record FileTree(List<Path> files, int links, int unreadable, int others) {

    static FileTree below(Path directory) throws IOException {
        Visitor visitor = new Visitor();
        // The directory itself may be a link; what it links to is meant.
        Files.walkFileTree(directory.toRealPath(), visitor);
        return new FileTree(List.copyOf(visitor.files), visitor.links, visitor.unreadable, visitor.others);
    }

    /** What was left out, for people. */
    String leftOut() {
        return "left out: " + Text.count(links, "symbolic link") + ", " + unreadable + " unreadable"
                + (others == 0 ? "" : ", " + others + " of other kinds");
    }

    private static final class Visitor extends SimpleFileVisitor<Path> {
        private final List<Path> files = new ArrayList<>();
        private int links;
        private int unreadable;
        private int others;

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isSymbolicLink()) {
                links++;
            } else if (!attributes.isRegularFile()) {
                others++;
            } else if (!Files.isReadable(file) || !survivesAsText(file)) {
                unreadable++;
            } else {
                files.add(file);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) {
            unreadable++;
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) {
            if (failure != null) {
                unreadable++;
            }
            return FileVisitResult.CONTINUE;
        }

        /** On Linux a name is bytes, and a job's payload is text: not every name has one. */
        private static boolean survivesAsText(Path file) {
            try {
                return Path.of(file.toString()).equals(file);
            } catch (InvalidPathException e) {
                return false;
            }
        }
    }
}
