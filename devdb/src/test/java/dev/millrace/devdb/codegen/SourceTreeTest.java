package dev.millrace.devdb.codegen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SourceTreeTest {

    @TempDir
    private Path folder;

    @Test
    void equalTrees_haveNoDifferences() {
        assertThat(tree("A.java", "a\n").differencesFrom(tree("A.java", "a\n"))).isEmpty();
    }

    @Test
    void changedLine_isShownInBothVersions() {
        assertThat(tree("p/A.java", "one\nnew\nthree\n").differencesFrom(tree("p/A.java", "one\nold\nthree\n")))
                .containsExactly(
                        "--- p/A.java", "+++ p/A.java", "@@ -1,4 +1,4 @@", " one", "-old", "+new", " three", " ");
    }

    @Test
    void addedFile_isADifference() {
        assertThat(tree("A.java", "a\n", "B.java", "b\n").differencesFrom(tree("A.java", "a\n")))
                .startsWith("--- /dev/null", "+++ B.java")
                .contains("+b");
    }

    @Test
    void deletedFile_isADifference() {
        assertThat(tree("A.java", "a\n").differencesFrom(tree("A.java", "a\n", "B.java", "b\n")))
                .startsWith("--- B.java", "+++ /dev/null")
                .contains("-b");
    }

    @Test
    void emptyFileMore_isADifference() {
        assertThat(tree("A.java", "").differencesFrom(tree())).isNotEmpty();
        assertThat(tree().differencesFrom(tree("A.java", ""))).isNotEmpty();
    }

    @Test
    void otherLineEnds_areADifference() {
        assertThat(tree("A.java", "a\n").differencesFrom(tree("A.java", "a\r\n")))
                .isNotEmpty();
        assertThat(tree("A.java", "a\n").differencesFrom(tree("A.java", "a"))).isNotEmpty();
    }

    @Test
    void longDifference_isCut() {
        assertThat(tree("A.java", "new\n".repeat(1_000)).differencesFrom(tree("A.java", "old\n".repeat(1_000))))
                .hasSize(201)
                .last()
                .isEqualTo("... and 1804 more lines");
    }

    @Test
    void replace_writesWhatIsNewAndDeletesWhatIsGone() throws IOException {
        tree("A.java", "a\n", "p/B.java", "b\n").replace(folder);
        SourceTree next = tree("A.java", "changed\n", "p/q/C.java", "c\n");

        next.replace(folder);

        assertThat(SourceTree.read(folder)).isEqualTo(next);
    }

    @Test
    void replace_leavesAloneWhatIsTheSame() throws IOException {
        SourceTree same = tree("A.java", "a\n");
        same.replace(folder);
        FileTime longAgo = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(folder.resolve("A.java"), longAgo);

        same.replace(folder);

        assertThat(Files.getLastModifiedTime(folder.resolve("A.java"))).isEqualTo(longAgo);
    }

    private static SourceTree tree() {
        return new SourceTree(new TreeMap<>());
    }

    private static SourceTree tree(String path, String text) {
        return new SourceTree(new TreeMap<>(Map.of(path, text)));
    }

    private static SourceTree tree(String path, String text, String otherPath, String otherText) {
        return new SourceTree(new TreeMap<>(Map.of(path, text, otherPath, otherText)));
    }
}
