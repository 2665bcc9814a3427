package dev.millrace.examples.digests;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Compares what the jobs found with what there is, file by file.
 *
 * @param equal digests that are what a direct computation gives
 * @param unreadable files that neither the job nor the comparison could read
 * @param changed files that were changed, created anew or removed since their job ran, so nothing can be said of them
 * @param different what is wrong, one line for each file
 */
record Verification(int equal, int unreadable, int changed, List<String> different) {

    static Verification of(Map<String, DigestTable.Row> rows) {
        int equal = 0;
        int unreadable = 0;
        int changed = 0;
        List<String> different = new ArrayList<>();
        for (DigestTable.Row row : rows.values()) {
            switch (compare(row.finding(), now(row.path()))) {
                case EQUAL -> equal++;
                case UNREADABLE -> unreadable++;
                case CHANGED -> changed++;
                case DIFFERENT -> different.add(row.path());
            }
        }
        return new Verification(equal, unreadable, changed, List.copyOf(different));
    }

    /** What came of it, in one line. */
    String summary() {
        return "Compared " + Text.count(equal + unreadable + changed + different.size(), "digest")
                + " with a direct computation: " + equal + " equal, " + different.size() + " different"
                + (changed == 0 ? "" : ", " + changed + " of files that changed meanwhile")
                + (unreadable == 0 ? "" : ", " + unreadable + " of files that can't be read") + ".";
    }

    private enum Outcome {
        EQUAL,
        UNREADABLE,
        CHANGED,
        DIFFERENT
    }

    private static Outcome compare(Finding then, Finding now) {
        if (then instanceof Finding.Digest before && now instanceof Finding.Digest after) {
            if (before.sha256().equals(after.sha256())) {
                return Outcome.EQUAL;
            }
            return before.sameFileAs(after) ? Outcome.DIFFERENT : Outcome.CHANGED;
        }
        return then instanceof Finding.Unreadable && now instanceof Finding.Unreadable
                ? Outcome.UNREADABLE
                : Outcome.CHANGED;
    }

    private static Finding now(String path) {
        try {
            return Finding.of(Path.of(path));
        } catch (IOException e) {
            return new Finding.Unreadable(String.valueOf(e.getMessage()));
        }
    }
}
