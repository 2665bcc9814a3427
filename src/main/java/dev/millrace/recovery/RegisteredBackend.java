package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.backend.StartRequest;
import dev.millrace.backend.StartResult;
import java.util.Collection;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A backend with the name and the capabilities that it told when it was registered. It is not asked for them again, since
 * the sweep, which must wait for no backend, goes by them.
 */
record RegisteredBackend(String name, Set<Capability> capabilities, Backend backend) implements Backend {
    /** @throws IllegalArgumentException if it does not tell its name or capabilities */
    static RegisteredBackend of(Backend backend) {
        return new RegisteredBackend(
                ask(backend, "name", backend::name),
                Set.copyOf(ask(backend, "capabilities", backend::capabilities)),
                backend);
    }

    private static <T> T ask(Backend backend, String what, Supplier<@Nullable T> question) {
        T answer;
        try {
            answer = question.get();
        } catch (RuntimeException e) {
            throw refused(backend, what, "threw " + e, e);
        }
        if (answer == null) {
            throw refused(backend, what, "answered null", null);
        }
        return answer;
    }

    private static IllegalArgumentException refused(
            Backend backend, String what, String did, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "The backend " + backend.getClass().getName() + " can't be registered: asked for its " + what + ", it "
                        + did + ". It has to tell it as soon as it is registered, without what may fail.",
                cause);
    }

    @Override
    public int room() throws Exception {
        return backend.room();
    }

    @Override
    public StartResult start(StartRequest request) throws Exception {
        return backend.start(request);
    }

    @Override
    public Observation observe(RemoteOperation operation) throws Exception {
        return backend.observe(operation);
    }

    @Override
    public void cancel(RemoteOperation operation) throws Exception {
        backend.cancel(operation);
    }

    @Override
    public Collection<RemoteOperation> operations() throws Exception {
        return backend.operations();
    }
}
