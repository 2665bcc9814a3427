package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Note;
import java.util.LinkedHashMap;
import java.util.Map;

/** What has to be known of each who took part, as a list. */
final class PeerNotes {
    private PeerNotes() {}

    static String of(FamilyResults results) {
        Map<String, Map<String, String>> byName = new LinkedHashMap<>();
        for (Note note : results.notes()) {
            byName.computeIfAbsent(note.about(), name -> new LinkedHashMap<>()).put(note.what(), note.text());
        }
        StringBuilder list = new StringBuilder();
        byName.forEach((name, notes) -> list.append("- *")
                .append(name)
                .append("* (")
                .append(notes.get("version"))
                .append("): ")
                .append(notes.get("settings"))
                .append(". ")
                .append(notes.get("fairness"))
                .append('\n'));
        return list.toString();
    }
}
