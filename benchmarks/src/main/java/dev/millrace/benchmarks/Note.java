package dev.millrace.benchmarks;

/**
 * What has to be known beside the numbers, such as what makes a comparison unfair.
 *
 * @param about whose numbers
 * @param what which of the things to be known, such as {@code fairness}
 * @param text in words
 */
public record Note(String about, String what, String text) {}
