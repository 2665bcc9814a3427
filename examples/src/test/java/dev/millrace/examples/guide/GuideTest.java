package dev.millrace.examples.guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.examples.Document;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The code that docs/guide.md shows is compiled and run by the classes of this package, and its links lead somewhere. */
class GuideTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Path CHAPTERS = Path.of("src/test/java/dev/millrace/examples/guide");
    private static final Path SPRING = Path.of("projects/spring-boot/src/main/java/com/example/shop/Orders.java");
    private static final Path SCRIPT = Path.of("src/test/sh/report.sh");
    private static final int LONGEST_LINE = 120;

    private final Document guide = Document.of(DOCS.resolve("guide.md"));

    @Test
    void javaBlocks_areTheTaggedSections_eachOnce() throws IOException {
        assertThat(guide.blocks("java")).containsExactlyInAnyOrderElementsOf(sections());
    }

    private static List<String> sections() throws IOException {
        try (Stream<Path> files = Files.list(CHAPTERS)) {
            return Stream.concat(files, Stream.of(SPRING))
                    .map(Document::of)
                    .flatMap(file -> tags(file).map(file::section))
                    .toList();
        }
    }

    private static Stream<String> tags(Document file) {
        return all("^ *// tag::(.+)\\[]$", file).map(tag -> tag.group(1));
    }

    private static Stream<MatchResult> all(String regex, Document file) {
        return Pattern.compile(regex, Pattern.MULTILINE).matcher(file.text()).results();
    }

    @Test
    void shellBlock_isTheScriptThatIsRun() {
        assertThat(guide.blocks("sh")).containsExactly(Document.of(SCRIPT).text());
    }

    @Test
    void links_leadToFiles_andToTheirHeadings() {
        assertThat(all("]\\(([^)#:]*)(?:#([^)]*))?\\)", guide))
                .isNotEmpty()
                .allSatisfy(link ->
                        assertLeadsSomewhere(link.group(1).isEmpty() ? "guide.md" : link.group(1), link.group(2)));
    }

    private static void assertLeadsSomewhere(String file, String anchor) {
        assertThat(DOCS.resolve(file)).exists();
        if (anchor != null) {
            assertThat(headings(Document.of(DOCS.resolve(file)))).contains(anchor);
        }
    }

    /** As links name them. */
    private static Stream<String> headings(Document document) {
        return all("^#+ (.*)$", document)
                .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
                .map(heading -> heading.replaceAll("[^a-z0-9 _-]", "").replace(' ', '-'));
    }

    @Test
    void chapters_areListedInTheirOrder() {
        List<String> listed = all("^\\d+\\. \\[(.*)]\\(#.*\\)", guide)
                .map(link -> link.group(1))
                .toList();
        assertThat(all("^## (.*)$", guide).map(heading -> heading.group(1))).containsExactlyElementsOf(listed);
    }

    @Test
    void lines_areShort() {
        assertThat(guide.text().lines().filter(line -> line.length() > LONGEST_LINE))
                .isEmpty();
    }
}
