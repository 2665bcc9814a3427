package dev.millrace.examples.digests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreeTest {
    @TempDir
    Path folder;

    @Test
    void links_areCountedAndNotFollowed() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        Files.createSymbolicLink(folder.resolve("to the file"), file);
        Files.createSymbolicLink(folder.resolve("to the folder"), folder);
        Files.createSymbolicLink(folder.resolve("to nothing"), folder.resolve("nothing"));

        FileTree tree = FileTree.below(folder);

        assertThat(tree.files()).containsExactly(file.toRealPath());
        assertThat(tree.leftOut()).isEqualTo("left out: 3 symbolic links, 0 unreadable");
    }

    @Test
    void linkAsTheRoot_isFollowed() throws IOException {
        Path inside = Files.createDirectory(folder.resolve("inside"));
        Path file = Files.createFile(inside.resolve("file"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), inside);

        assertThat(FileTree.below(link).files()).containsExactly(file.toRealPath());
    }

    @Test
    void whatCannotBeOpened_isCounted() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        Path closed = Files.createDirectory(folder.resolve("closed"));
        Files.createFile(closed.resolve("unseen"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("---------"));
        try {
            assumeThat(Files.isReadable(file)).as("root may read everything").isFalse();

            FileTree tree = FileTree.below(folder);

            assertThat(tree.files()).isEmpty();
            assertThat(tree.unreadable()).isEqualTo(2);
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        }
    }
}
