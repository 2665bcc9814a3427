package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleasedMigrationsTest {

    /** Surefire runs tests in the module's folder. */
    private static final ReleasedMigrations OURS = new ReleasedMigrations(
            Path.of("released-migrations.txt"), Path.of("src/main/resources/dev/millrace/db/migration"));

    private static final String FIRST = "V1__first.sql";
    private static final String SECOND = "V2__second.sql";

    @TempDir
    private Path folder;

    private ReleasedMigrations some;

    @BeforeEach
    void releaseOne() throws IOException {
        some = new ReleasedMigrations(folder.resolve("list.txt"), folder);
        Files.writeString(folder.resolve(FIRST), "SELECT 1;\n");
        list(FIRST, "SELECT 1;\n");
    }

    @Test
    void ourMigrations_areAsTheyWereReleased() throws Exception {
        assertThat(OURS.problems()).isEmpty();
        assumeThat(ReleasedMigrations.gitKnows(OURS.folder())).isTrue();
        assertThat(OURS.problemsSinceNewestTag()).isEmpty();
    }

    @Test
    void releasedMigration_asItWas_isNoProblem() throws IOException {
        Files.writeString(folder.resolve(SECOND), "SELECT 2;\n"); // not released
        assertThat(some.problems()).isEmpty();
    }

    @Test
    void releasedMigration_thatChanged_isNamedWithWhatToDo() throws IOException {
        Files.writeString(folder.resolve(FIRST), "SELECT 1; \n");
        assertThat(some.problems())
                .containsExactly(FIRST + " was released with 0.1.0 and has changed. Take it back as it was, comments"
                        + " included, and make the change by a new migration: databases keep the checksum of what they"
                        + " were migrated by.");
    }

    @Test
    void releasedMigration_thatVanished_isNamedWithWhatToDo() throws IOException {
        Files.delete(folder.resolve(FIRST));
        assertThat(some.problems())
                .singleElement()
                .asString()
                .contains(FIRST + " was released with 0.1.0 and is not there any more. Put it back");
    }

    @Test
    void aLineThatIsNone_isRefused() throws IOException {
        Files.writeString(some.list(), FIRST + " 0.1.0\n");
        assertThatThrownBy(some::problems).hasMessageContaining("file sha256 release");
    }

    @Test
    void migrationsOfTheNewestTag_thatAreNotListedAsTheyWere_areNamedWithTheirLine() throws Exception {
        assumeThat(ReleasedMigrations.gitKnows(OURS.folder())).isTrue();
        git("init", "--quiet");
        assertThat(some.problemsSinceNewestTag()).isEmpty();
        commitAndTag("v0.9.0");
        assertThat(some.problemsSinceNewestTag()).isEmpty();

        Files.writeString(folder.resolve(SECOND), "SELECT 2;\n");
        commitAndTag("v0.10.0");
        Files.writeString(folder.resolve(SECOND), "SELECT 3;\n");
        assertThat(some.problemsSinceNewestTag())
                .singleElement()
                .asString()
                .contains("v0.10.0 was released with " + SECOND)
                .endsWith("Add the line: " + SECOND + " " + sha256("SELECT 2;\n") + " 0.10.0");

        list(SECOND, "SELECT 3;\n"); // as it is now, which is not as it was
        assertThat(some.problemsSinceNewestTag()).hasSize(2);
        list(FIRST, "SELECT 1;\n", SECOND, "SELECT 2;\n");
        assertThat(some.problemsSinceNewestTag()).isEmpty();
        assertThat(some.problems()).hasSize(1);
    }

    private void list(String... filesAndTexts) throws IOException {
        StringBuilder lines = new StringBuilder("# comment\n\n");
        for (int i = 0; i < filesAndTexts.length; i += 2) {
            lines.append(filesAndTexts[i] + "  " + sha256(filesAndTexts[i + 1]) + "  0.1.0\n");
        }
        Files.writeString(some.list(), lines);
    }

    private static String sha256(String text) {
        return ReleasedMigrations.sha256(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private void commitAndTag(String tag) throws Exception {
        git("add", "--all");
        git("-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", tag);
        git("tag", tag);
    }

    private void git(String... arguments) throws Exception {
        ReleasedMigrations.git(folder, arguments);
    }
}
