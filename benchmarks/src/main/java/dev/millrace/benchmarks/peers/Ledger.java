package dev.millrace.benchmarks.peers;

import java.util.Optional;

/**
 * What a contender's own tables say about its jobs, in SQL.
 *
 * @param unfinished how many are there and not finished
 * @param finished how many are there and finished; nothing if they are deleted
 */
public record Ledger(String unfinished, Optional<String> finished) {
    static Ledger deleting(String unfinished) {
        return new Ledger(unfinished, Optional.empty());
    }

    static Ledger keeping(String unfinished, String finished) {
        return new Ledger(unfinished, Optional.of(finished));
    }
}
