package dev.millrace.devdb.codegen;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The files of a folder as texts, by their paths below it, with slashes. */
record SourceTree(SortedMap<String, String> files) {

    private static final int CONTEXT_LINES = 3;
    private static final int MAX_LINES = 200;

    /** The files below this folder; none if it isn't there. */
    static SourceTree read(Path folder) throws IOException {
        SortedMap<String, String> files = new TreeMap<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> paths = Files.walk(folder)) {
                for (Path path : (Iterable<Path>) paths.filter(Files::isRegularFile)::iterator) {
                    files.put(folder.relativize(path).toString().replace('\\', '/'), Files.readString(path));
                }
            }
        }
        return new SourceTree(files);
    }

    SourceTree map(UnaryOperator<String> change) {
        SortedMap<String, String> changed = new TreeMap<>();
        files.forEach((path, text) -> changed.put(path, change.apply(text)));
        return new SourceTree(changed);
    }

    /** Makes the folder hold these files and no others; what is the same already is left alone. */
    void replace(Path folder) throws IOException {
        SourceTree old = read(folder);
        for (String path : old.files.keySet()) {
            if (!files.containsKey(path)) {
                Files.delete(folder.resolve(path));
            }
        }
        for (var file : files.entrySet()) {
            if (!file.getValue().equals(old.files.get(file.getKey()))) {
                Path path = folder.resolve(file.getKey());
                Files.createDirectories(path.getParent());
                Files.writeString(path, file.getValue());
            }
        }
    }

    /**
     * What has to change in the other tree to make it this one, as the lines of a unified diff; none if they are equal.
     * A long diff is cut.
     */
    List<String> differencesFrom(SourceTree other) {
        TreeSet<String> paths = new TreeSet<>(files.keySet());
        paths.addAll(other.files.keySet());
        List<String> lines = new ArrayList<>();
        for (String path : paths) {
            lines.addAll(diff(path, other.files.get(path), files.get(path)));
        }
        if (lines.size() <= MAX_LINES) {
            return lines;
        }
        List<String> cut = new ArrayList<>(lines.subList(0, MAX_LINES));
        cut.add("... and " + (lines.size() - MAX_LINES) + " more lines");
        return cut;
    }

    private static List<String> diff(String path, @Nullable String before, @Nullable String after) {
        if (Objects.equals(before, after)) {
            return List.of();
        }
        List<String> old = lines(before);
        return UnifiedDiffUtils.generateUnifiedDiff(
                before == null ? "/dev/null" : path,
                after == null ? "/dev/null" : path,
                old,
                DiffUtils.diff(old, lines(after)),
                CONTEXT_LINES);
    }

    // Split at \n only, so that lines that differ in nothing but a \r are a difference too.
    private static List<String> lines(@Nullable String text) {
        return text == null ? List.of() : Arrays.asList(text.split("\n", -1));
    }
}
