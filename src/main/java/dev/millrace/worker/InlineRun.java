package dev.millrace.worker;

import org.jspecify.annotations.Nullable;

/**
 * What came of an attempt that an {@link InlineWorker} ran.
 *
 * @param handled whether the handler was called: not if the attempt was lost or cancelled before, or its payload can't be
 *     read
 * @param thrown what the handler threw, or the reading of its payload; null if nothing
 */
public record InlineRun(boolean handled, @Nullable Throwable thrown) {}
