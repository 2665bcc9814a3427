package dev.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The README shows code and commands that are run. */
class ReadmeTest {
    private static final Path EXAMPLES = Path.of("src/main/java/dev/millrace/examples");
    private static final Path PLAIN_PROJECT = Path.of("projects/plain");
    private static final int FIRST_EXAMPLE_LINES = 20;

    private final String readme = read(Path.of("../README.md"));

    @Test
    void javaBlocks_areTheTaggedSections() {
        assertThat(blocks("java"))
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
        assertThat(read(PLAIN_PROJECT.resolve("src/main/java/FirstJob.java")))
                .isEqualTo(section("first/FirstJob.java", "first"));
    }

    @Test
    void xmlBlocks_areInThePlainProject() {
        String project = unindented(read(PLAIN_PROJECT.resolve("pom.xml")));

        assertThat(blocks("xml"))
                .isNotEmpty()
                .allSatisfy(block -> assertThat(project).contains(unindented(block)));
    }

    @Test
    void shellBlocks_areTwoCommands() {
        assertThat(blocks("sh")).containsExactly("./mvnw -q -Pdemo compile -pl examples -am\n", "./mvnw -B verify\n");
    }

    @Test
    void links_leadToFiles() {
        List<String> targets = Pattern.compile("]\\(([^):#]+)(#[^)]*)?\\)")
                .matcher(readme)
                .results()
                .map(link -> link.group(1))
                .toList();

        assertThat(targets)
                .isNotEmpty()
                .allSatisfy(target -> assertThat(Path.of("..", target)).exists());
    }

    private List<String> blocks(String language) {
        return Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(readme)
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    /** What stands between the tags, without the indentation that all of it has. */
    private static String section(String file, String tag) {
        MatchResult section = Pattern.compile(
                        "^ *// tag::" + tag + "\\[]\n(.*?)^ *// end::" + tag + "\\[]$",
                        Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(read(EXAMPLES.resolve(file)))
                .results()
                .findFirst()
                .orElseThrow(() -> new AssertionError("There is no section " + tag + " in " + file));
        return section.group(1).stripTrailing().stripIndent() + "\n";
    }

    private static String unindented(String text) {
        return text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError("Can't be read: " + file.toAbsolutePath(), e);
        }
    }
}
