package dev.millrace.worker;

/**
 * A worker was set up in a way that can't work. The message says which setting, what was found, what is allowed and what
 * to do.
 */
public final class InvalidWorkerException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String setting;
    private final String found;
    private final String allowed;

    InvalidWorkerException(String setting, String found, String allowed, String whatToDo) {
        super("Invalid " + setting + ": found " + found + ", allowed is " + allowed + ". " + whatToDo);
        this.setting = setting;
        this.found = found;
        this.allowed = allowed;
    }

    /** {@return which setting, such as {@code concurrency}} */
    public String setting() {
        return setting;
    }

    /** {@return what was found} */
    public String found() {
        return found;
    }

    /** {@return what is allowed instead} */
    public String allowed() {
        return allowed;
    }
}
