package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/** A lease is no longer held: what was to happen under it must stop. */
public final class LeaseLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why it is no longer held. */
    public enum Reason {
        /** The database refused to renew it: it had expired there, and may be someone else's by now. */
        REFUSED,
        /** A renewal failed, for what the cause says; the lease may last until its time is over. */
        FAILED,
        /** Its time was over before a renewal succeeded: the database didn't answer, or this process stood still. */
        RAN_OUT,
        /** It was given back by {@link HeldLease#close()}. */
        RELEASED
    }

    private final String key;
    private final Reason reason;

    /**
     * A lease that is no longer held.
     *
     * @param key what was held
     * @param reason why it is not any more
     * @param cause what the renewal failed with, or null
     */
    public LeaseLostException(String key, Reason reason, @Nullable Throwable cause) {
        super("Lease \"" + key + "\" is no longer held: " + explained(reason), cause);
        this.key = key;
        this.reason = reason;
    }

    private static String explained(Reason reason) {
        return switch (reason) {
            case REFUSED -> "the database refused to renew it, since it had expired. Someone else may hold it now.";
            case FAILED ->
                "it could not be renewed, for the cause below. Mend that, and ask for the lease again: it is free once"
                        + " its time is over.";
            case RAN_OUT ->
                "its time was over before a renewal succeeded. Check whether the database answers in less"
                        + " than the lease's duration, and whether this process was suspended.";
            case RELEASED -> "it was released. Ask for it again to go on.";
        };
    }

    /** {@return what was held} */
    public String key() {
        return key;
    }

    /** {@return why it is not held any more} */
    public Reason reason() {
        return reason;
    }
}
