package dev.millrace.recovery;

import dev.millrace.internal.Feed;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Those who are told what one loop does; see {@link Feed}. Safe for use by many threads. */
final class Listeners {
    /** How long closing waits for listeners to hear what is left. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final List<Feed<RecoveryListener>> feeds = new CopyOnWriteArrayList<>();
    private final String thread;

    /** @param loop the name of the loop's thread, of which those of its listeners are made */
    Listeners(String loop) {
        this.thread = loop + "-listener";
    }

    void add(RecoveryListener listener) {
        feeds.add(new Feed<>(thread, Objects.requireNonNull(listener, "listener"), RecoveryListener::missed));
    }

    /** Throws nothing. */
    void tell(Consumer<RecoveryListener> event) {
        feeds.forEach(feed -> feed.tell(event));
    }

    void close() {
        Feed.close(feeds, PATIENCE);
    }
}
