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
        byName.forEach((name, notes) ->
                list.append("- *").append(name).append('*').append(of(notes)).append('\n'));
        return list.toString();
    }

    private static String of(Map<String, String> notes) {
        return notes.containsKey(Setting.ABSENT)
                ? " did not take part: " + notes.get(Setting.ABSENT) + "."
                : " (" + notes.get("version") + "): " + notes.get("settings") + ". " + notes.get("fairness");
    }
}
