package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.report.Markdown;

/** The table of targets, below all else; nothing where one of both sides did not take part. */
final class PeerTargets {
    private PeerTargets() {}

    static String of(FamilyResults results) {
        return results.targets().isEmpty() ? "" : "\n" + Markdown.targets(results.targets());
    }
}
