package dev.millrace.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The command line of {@code run}: {@code run <family>...|all [--quick] [--out folder] [--url jdbc:..]}.
 *
 * @param families names, at least one
 * @param size how much is to be done
 * @param out where the files of results go
 * @param url the JDBC URL of the server, or null for an embedded one
 */
record Arguments(
        List<String> families,
        Size size,
        Path out,
        @Nullable String url) {
    static final Path DEFAULT_OUT = Path.of("target", "benchmarks");

    static Arguments parse(List<String> words) {
        List<String> families = new ArrayList<>();
        Size size = Size.FULL;
        Path out = DEFAULT_OUT;
        String url = null;
        for (int at = 0; at < words.size(); at++) {
            String word = words.get(at);
            switch (word) {
                case "--quick" -> size = Size.QUICK;
                case "--tiny" -> size = Size.TINY;
                case "--out" -> out = Path.of(valueOf(words, at++));
                case "--url" -> url = valueOf(words, at++);
                default -> {
                    if (word.startsWith("-")) {
                        throw new UsageException("There is no option " + word);
                    }
                    families.add(word);
                }
            }
        }
        if (families.isEmpty()) {
            throw new UsageException("Name a family, or all");
        }
        return new Arguments(families, size, out, url);
    }

    /**
     * Makes sure that results which are no evidence don't replace those that are.
     *
     * @throws UsageException if they would
     */
    void checkOut() throws IOException {
        if (size != Size.FULL && new ResultFiles(out).haveEvidence()) {
            throw new UsageException("There are results of full runs in " + out
                    + ", among which those of a quick one have no place: give another folder with --out");
        }
    }

    /** {@return the word after an option, which is not another option} */
    static String valueOf(List<String> words, int at) {
        if (at + 1 >= words.size() || words.get(at + 1).startsWith("--")) {
            throw new UsageException("The option " + words.get(at) + " lacks its value");
        }
        return words.get(at + 1);
    }
}
