package dev.millrace.store;

/**
 * An attempt and how it ends, for {@link WorkSource#finishAll}.
 *
 * @param claim the claim that the attempt has
 * @param finish how it ends
 */
public record Completion(Claim claim, Finish finish) {}
