package dev.millrace.examples.digests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerificationTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        file = Files.writeString(folder.resolve("file"), "abc");
    }

    @Test
    void digest_isThatOfTheStandardsExample() throws IOException {
        assertThat(((Finding.Digest) Finding.of(file)).sha256())
                .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    @Test
    void untouchedFile_isEqual() throws IOException {
        Verification verification = verify(Finding.of(file));

        assertThat(verification.equal()).isOne();
        assertThat(verification.summary())
                .isEqualTo("Compared 1 digest with a direct computation: 1 equal, 0 different.");
    }

    @Test
    void wrongDigestOfUntouchedFile_isDifferent() throws IOException {
        Finding.Digest right = (Finding.Digest) Finding.of(file);

        Verification verification = verify(new Finding.Digest("0".repeat(64), right.bytes(), right.modified()));

        assertThat(verification.different()).containsExactly(file.toString());
    }

    @Test
    void fileThatWasWrittenMeanwhile_isChanged() throws IOException {
        Finding before = Finding.of(file);
        Files.writeString(file, "xyz");
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));

        assertThat(verify(before)).isEqualTo(new Verification(0, 0, 1, List.of()));
    }

    @Test
    void fileThatWasRemovedMeanwhile_isChanged() throws IOException {
        Finding before = Finding.of(file);
        Files.delete(file);

        assertThat(verify(before).summary())
                .isEqualTo("Compared 1 digest with a direct computation: 0 equal, 0 different, 1 of files that changed"
                        + " meanwhile.");
    }

    @Test
    void fileThatWasGoneForTheJobAsWell_isUnreadable() throws IOException {
        Files.delete(file);
        Finding before = Finding.of(file);

        assertThat(before).isEqualTo(new Finding.Unreadable("it is gone"));
        assertThat(verify(before).unreadable()).isOne();
    }

    private Verification verify(Finding before) {
        return Verification.of(Map.of("job", new DigestTable.Row(file.toString(), before)));
    }
}
