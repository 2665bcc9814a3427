package dev.millrace.micrometer;

import dev.millrace.store.Controls;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Switches without a database. */
final class FakeControls implements Controls {
    private final List<Pause> pauses = new CopyOnWriteArrayList<>();
    private volatile @Nullable Hold hold;

    @Override
    public Hold hold(String by, @Nullable String why) {
        Hold set = new Hold(by, why, Instant.EPOCH);
        hold = set;
        return set;
    }

    @Override
    public Optional<Hold> release(String by) {
        Optional<Hold> before = held();
        hold = null;
        return before;
    }

    @Override
    public Optional<Hold> held() {
        return Optional.ofNullable(hold);
    }

    @Override
    public Pause pause(Scope scope, String by, @Nullable String why) {
        Pause set = new Pause(scope, by, why, Instant.EPOCH);
        pauses.add(set);
        return set;
    }

    @Override
    public Optional<Pause> resume(Scope scope, String by) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<Pause> pauses() {
        return List.copyOf(pauses);
    }
}
