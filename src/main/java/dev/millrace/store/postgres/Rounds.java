package dev.millrace.store.postgres;

import dev.millrace.store.StoreException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes that start anew when someone else came in between. Each round in vain means that someone else got on,
 * so this ends; should it not, the caller is told rather than kept.
 */
final class Rounds {
    private static final int MAX = 100;

    private Rounds() {}

    /**
     * What the first round comes to that is not in vain.
     *
     * @param round null if it has to be done again
     * @param unsettled what is the matter if no round comes to anything, to follow "100 times"
     */
    static <T> T first(Supplier<@Nullable T> round, String unsettled) {
        for (int i = 0; i < MAX; i++) {
            T result = round.get();
            if (result != null) {
                return result;
            }
        }
        throw new StoreException("In " + MAX + " tries, " + unsettled, null);
    }
}
