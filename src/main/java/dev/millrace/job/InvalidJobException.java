package dev.millrace.job;

/**
 * A value that a job can't have. Thrown before any SQL is sent, so a surrounding transaction stays usable. The message
 * says what was found by its length or form, never by its content.
 */
public final class InvalidJobException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String field;
    private final String found;
    private final String allowed;

    /**
     * @param field which value, such as {@code kind}
     * @param found what was found, by length or form
     * @param allowed what is allowed instead
     */
    public InvalidJobException(String field, String found, String allowed) {
        super("Invalid " + field + ": found " + found + ", allowed is " + allowed + ". Nothing was written.");
        this.field = field;
        this.found = found;
        this.allowed = allowed;
    }

    /** {@return which value is invalid} */
    public String field() {
        return field;
    }

    /** {@return what was found, by length or form} */
    public String found() {
        return found;
    }

    /** {@return what is allowed instead} */
    public String allowed() {
        return allowed;
    }
}
