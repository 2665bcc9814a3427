package dev.millrace.benchmarks;

/** How much is done: the numbers of {@code FULL} are evidence, those of the others show that the benchmarks work. */
public enum Size {
    /** For the tests of the build: as little as still goes through everything, a few seconds a family. */
    TINY,
    /** To see that all is in place before a full run: a minute or so for most families. */
    QUICK,
    /** What the report is made of. */
    FULL;

    /** {@return the one of these that belongs to this size} */
    public int of(int tiny, int quick, int full) {
        return switch (this) {
            case TINY -> tiny;
            case QUICK -> quick;
            case FULL -> full;
        };
    }
}
