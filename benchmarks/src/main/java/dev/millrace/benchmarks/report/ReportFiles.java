package dev.millrace.benchmarks.report;

import dev.millrace.benchmarks.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes the report: tables into the document, plots beside the results. */
public final class ReportFiles {
    private final Path folder;
    private final Path document;

    /**
     * @param folder with the files of results; the plots go there
     * @param document has the marks
     */
    public ReportFiles(Path folder, Path document) {
        this.folder = folder;
        this.document = document;
    }

    /**
     * Writes it.
     *
     * @throws UsageException if there are no results, or no document: a document with nothing but empty places is not wanted by
     *     anybody
     */
    public void write() throws IOException {
        Report report = new Report(folder);
        if (report.isEmpty()) {
            throw new UsageException("There are no results in " + folder);
        }
        if (!Files.exists(document)) {
            throw new UsageException("There is no document " + document);
        }
        for (Map.Entry<String, String> plot : report.plots().entrySet()) {
            Files.writeString(folder.resolve(plot.getKey()), plot.getValue());
        }
        Files.writeString(document, report.in(Files.readString(document)));
    }
}
