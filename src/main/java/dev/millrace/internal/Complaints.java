package dev.millrace.internal;

import java.util.LinkedHashMap;
import java.util.Map;

/** What was complained of lately, so that what lasts is said once. Safe for use by many threads. */
public final class Complaints {
    private static final int REMEMBERED = 1_000;

    private final Map<String, Boolean> said = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > REMEMBERED;
        }
    };

    /** Nothing was complained of so far. */
    public Complaints() {}

    /**
     * {@return whether this is to be said: it was not before, or not lately}
     *
     * @param about what is the matter
     */
    public synchronized boolean isNew(String about) {
        return said.put(about, true) == null;
    }

    /**
     * It is well again: the next time is a new one.
     *
     * @param about what was the matter
     */
    public synchronized void settled(String about) {
        said.remove(about);
    }
}
