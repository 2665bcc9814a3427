package dev.millrace.store;

/** What lists of jobs can be filtered by, beside what has a column of its own. */
public enum Dimension {
    /** The backend that runs the job; {@code local} for workers. */
    BACKEND("backend"),
    /** The queue that the job belongs to. */
    QUEUE("queue"),
    /** Who asked for the job. */
    REQUESTED_BY("requested-by"),
    /** What ties the job to other work. */
    CORRELATION("correlation"),
    /** The trace context at submission. */
    TRACE("trace"),
    /** The definition that the job was made from, and the plan that it carries out. */
    DEFINITION("definition"),
    /** What the job works on; one of them is enough. */
    RESOURCE("resource"),
    /** Where the job works. */
    ENVIRONMENT("environment"),
    /** The server that the job works on. */
    SERVER("server"),
    /** The release that the job belongs to. */
    RELEASE("release"),
    /** The change set that the job belongs to. */
    CHANGE_SET("change-set"),
    /** The alert that caused the job. */
    ALERT("alert"),
    /** The orchestration run that the job is part of. */
    RUN("run");

    private final String literal;

    Dimension(String literal) {
        this.literal = literal;
    }

    /** {@return its name in the database} */
    public String literal() {
        return literal;
    }
}
