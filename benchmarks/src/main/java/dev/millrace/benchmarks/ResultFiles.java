package dev.millrace.benchmarks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The files of results: one for each family, in one folder. */
public final class ResultFiles {
    private static final ObjectMapper JSON = JsonMapper.builder().build();
    private static final ObjectWriter WRITER =
            JSON.writer(new DefaultPrettyPrinter().withObjectIndenter(new DefaultIndenter("  ", "\n")));

    private final Path folder;

    /**
     * @param folder where they are
     */
    public ResultFiles(Path folder) {
        this.folder = folder;
    }

    /**
     * Writes the results of a family in place of earlier ones.
     *
     * @return the file
     */
    public Path write(FamilyResults results) throws IOException {
        Files.createDirectories(folder);
        return Files.writeString(file(results.family()), text(results));
    }

    /** {@return the results of a family, if there are any} */
    public Optional<FamilyResults> read(String family) throws IOException {
        Path file = file(family);
        return Files.exists(file)
                ? Optional.of(JSON.readValue(Files.readString(file), FamilyResults.class))
                : Optional.empty();
    }

    /** {@return whether there is a full run among them, of whichever family} */
    public boolean haveEvidence() throws IOException {
        for (Family family : Families.all()) {
            if (read(family.name()).filter(one -> one.size() == Size.FULL).isPresent()) {
                return true;
            }
        }
        return false;
    }

    private Path file(String family) {
        return folder.resolve(family + ".json");
    }

    private static String text(FamilyResults results) throws JsonProcessingException {
        return WRITER.writeValueAsString(results) + "\n";
    }
}
