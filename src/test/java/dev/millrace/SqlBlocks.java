package dev.millrace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The blocks of SQL of a document, in their order. */
public final class SqlBlocks {
    private static final Pattern BLOCK =
            Pattern.compile("^( *)```sql\n(.*?)^\\1```$", Pattern.MULTILINE | Pattern.DOTALL);

    private SqlBlocks() {}

    public static List<String> of(Path document) {
        try {
            return BLOCK.matcher(Files.readString(document))
                    .results()
                    .map(block -> block.group(2))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError("Can't be read: " + document.toAbsolutePath(), e);
        }
    }
}
