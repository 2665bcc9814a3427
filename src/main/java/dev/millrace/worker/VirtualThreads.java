package dev.millrace.worker;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Virtual threads, where the JVM has them (21 and later). The library is compiled for 17, which lacks their API, so it
 * is looked up once: this is {@code Thread.ofVirtual().name(prefix, 0).factory()} and nothing else.
 */
final class VirtualThreads {
    private static final Logger LOG = LoggerFactory.getLogger(VirtualThreads.class);

    private VirtualThreads() {}

    /** A factory of virtual threads whose names have this prefix; empty if the JVM has none. */
    static Optional<ThreadFactory> named(String prefix) {
        if (Runtime.version().feature() < 21) {
            return Optional.empty();
        }
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> builder = Class.forName("java.lang.Thread$Builder$OfVirtual");
            MethodHandle ofVirtual = lookup.findStatic(Thread.class, "ofVirtual", MethodType.methodType(builder));
            MethodHandle name =
                    lookup.findVirtual(builder, "name", MethodType.methodType(builder, String.class, long.class));
            MethodHandle factory = lookup.findVirtual(builder, "factory", MethodType.methodType(ThreadFactory.class));
            return Optional.of((ThreadFactory) factory.invoke(name.invoke(ofVirtual.invoke(), prefix, 0L)));
        } catch (Throwable e) {
            LOG.warn("This JVM should have virtual threads, but they can't be made: using a pool of threads.", e);
            return Optional.empty();
        }
    }
}
