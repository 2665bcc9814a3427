package dev.millrace.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The database role may not do what was asked. Nothing was written, unless {@link #mayHaveHappened()}. The message names the role, what was refused, and
 * what to grant.
 */
public final class MissingPrivilegeException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String role;
    private final List<String> grants;

    /**
     * A missing privilege.
     *
     * @param role the user that the session logged in as; null if there was no session
     * @param grants the statements that grant what is missing; empty where no grant would help
     * @param message what may not be done, and what to grant
     * @param cause the cause, or null if there is none
     * @param mayHaveHappened whether an earlier try, whose answer was lost, may have done it
     */
    public MissingPrivilegeException(
            @Nullable String role,
            List<String> grants,
            String message,
            @Nullable Throwable cause,
            boolean mayHaveHappened) {
        super(message, cause, mayHaveHappened);
        this.role = role;
        this.grants = List.copyOf(grants);
    }

    /**
     * {@return the user that the session logged in as; null if there was no session, because the user may not connect}
     */
    public @Nullable String role() {
        return role;
    }

    /**
     * {@return the statements that grant what the refused statement takes, for whoever owns the schema to run; empty if
     * the role may not connect, or where no grant would help}
     *
     * <p>A call of several statements may then be refused the next one: {@code docs/roles.md} has all that roles need.
     */
    public List<String> grants() {
        return grants;
    }
}
