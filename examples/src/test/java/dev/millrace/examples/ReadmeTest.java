package dev.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The README shows code and commands that are run. */
class ReadmeTest {
    private static final Path EXAMPLES = Path.of("src/main/java/dev/millrace/examples");
    private static final Path PLAIN_PROJECT = Path.of("projects/plain");
    private static final int FIRST_EXAMPLE_LINES = 20;

    private final Document readme = Document.of(Path.of("../README.md"));

    @Test
    void javaBlocks_areTheTaggedSections() {
        assertThat(readme.blocks("java"))
                .containsExactly(
                        section("first/FirstJob.java", "first"), section("first/OrderAndJob.java", "transaction"));
    }

    @Test
    void firstExample_isShort() {
        long lines = section("first/FirstJob.java", "first").lines().count();

        assertThat(lines).isLessThanOrEqualTo(FIRST_EXAMPLE_LINES);
    }

    @Test
    void firstExample_isThatOfThePlainProject() {
        assertThat(Document.of(PLAIN_PROJECT.resolve("src/main/java/FirstJob.java"))
                        .text())
                .isEqualTo(section("first/FirstJob.java", "first"));
    }

    @Test
    void xmlBlocks_areInThePlainProject() {
        String project = Document.of(PLAIN_PROJECT.resolve("pom.xml")).unindented();

        assertThat(readme.blocks("xml"))
                .isNotEmpty()
                .allSatisfy(block -> assertThat(project).contains(Document.unindented(block)));
    }

    @Test
    void shellBlocks_areTwoCommands() {
        assertThat(readme.blocks("sh"))
                .containsExactly("./mvnw -q -Pdemo compile -pl examples -am\n", "./mvnw -B verify\n");
    }

    @Test
    void links_leadToFiles() {
        assertThat(readme.links())
                .isNotEmpty()
                .allSatisfy(target -> assertThat(Path.of("..", target)).exists());
    }

    private static String section(String file, String tag) {
        return Document.of(EXAMPLES.resolve(file)).section(tag);
    }
}
