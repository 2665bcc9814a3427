package dev.millrace.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A text that shows code, or code that is shown, to be compared. */
public record Document(Path file, String text) {
    public static Document of(Path file) {
        try {
            return new Document(file, Files.readString(file));
        } catch (IOException e) {
            throw new AssertionError("Can't be read: " + file.toAbsolutePath(), e);
        }
    }

    /** Its blocks of code in this language. */
    public List<String> blocks(String language) {
        return Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(text)
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    /** The files that it links to. */
    public List<String> links() {
        return Pattern.compile("]\\(([^):#]+)(#[^)]*)?\\)")
                .matcher(text)
                .results()
                .map(link -> link.group(1))
                .toList();
    }

    /** What stands between the tags, without the indentation that all of it has. */
    public String section(String tag) {
        MatchResult section = Pattern.compile(
                        "^ *// tag::" + tag + "\\[]\n(.*?)^ *// end::" + tag + "\\[]$",
                        Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(text)
                .results()
                .findFirst()
                .orElseThrow(() -> new AssertionError("There is no section " + tag + " in " + file));
        return section.group(1).stripTrailing().stripIndent() + "\n";
    }

    public String unindented() {
        return unindented(text);
    }

    public static String unindented(String text) {
        return text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }
}
