package dev.millrace.benchmarks.peers;

/**
 * What a contender's own tables say about its jobs, in SQL.
 *
 * @param unfinished how many are not finished
 * @param finished how many are there and finished
 * @param keeps whether finished jobs stay there
 */
public record Ledger(String unfinished, String finished, boolean keeps) {}
