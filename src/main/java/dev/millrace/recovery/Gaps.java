package dev.millrace.recovery;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * When nothing was seen of the store, and for how long. Answers one question: when did the last gap end that was longer
 * than so much? For that, a gap that was followed by one at least as long need not be kept, so those that are kept
 * become shorter from the oldest to the newest; and one that is over for {@value #KEPT} times its length matters to
 * nobody. Both together keep the number small, some dozens at most, whatever happens.
 *
 * <p>Not safe for use by many threads.
 */
final class Gaps {
    /** Twice what {@link StoreWatch} can ask for: its cap looks back ten times the length of the gaps that it minds. */
    private static final long KEPT = 20;

    private record Gap(long end, long length) {}

    private final Deque<Gap> gaps = new ArrayDeque<>();

    /** A gap that ends now. */
    void add(long end, long length) {
        while (!gaps.isEmpty() && gaps.peekLast().length <= length) {
            gaps.removeLast();
        }
        gaps.addLast(new Gap(end, length));
        forgetBefore(end);
    }

    /** Drops what matters no more. */
    void forgetBefore(long now) {
        gaps.removeIf(gap -> (now - gap.end) / KEPT > gap.length);
    }

    /** When the last gap ended that was longer than this; {@code otherwise} if there was none. */
    long endOfLastLongerThan(long length, long otherwise) {
        for (Iterator<Gap> newestFirst = gaps.descendingIterator(); newestFirst.hasNext(); ) {
            Gap gap = newestFirst.next();
            if (gap.length > length) {
                return gap.end;
            }
        }
        return otherwise;
    }

    int size() {
        return gaps.size();
    }
}
