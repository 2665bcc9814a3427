package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerFolderTest {

    @TempDir
    private Path root;

    private Path orphan;

    @BeforeEach
    void leaveAnOrphan() throws IOException {
        orphan = Files.createDirectory(root.resolve("server-0-of-another-process"));
        Files.createFile(orphan.resolve("owner.lock"));
    }

    @Test
    void deleteOrphans_ofAFolderThatNobodyHolds_deletesIt() throws IOException {
        ServerFolder.deleteOrphans(root, data -> {});

        assertThat(orphan).doesNotExist();
    }

    @Test
    void deleteOrphans_ofAFolderThatAnotherThreadIsDeleting_leavesItToThat() throws IOException {
        try (FileChannel other = FileChannel.open(orphan.resolve("owner.lock"), StandardOpenOption.WRITE)) {
            other.lock();

            ServerFolder.deleteOrphans(root, data -> {});

            assertThat(orphan).exists();
        }
    }
}
