package dev.millrace.benchmarks;

/**
 * What a run has looked at so as to know that it did what it measures; it held, or there would be no results.
 *
 * @param what what was looked at
 * @param found what was found, as expected
 */
public record Check(String what, String found) {}
