package dev.millrace.benchmarks;

/**
 * What a process has used of processors, in ticks of the clock.
 *
 * @param pid its number
 * @param parent that of its parent
 * @param own what it has used itself
 * @param ofEnded what those of its children have used that have ended
 */
record ProcessTicks(long pid, long parent, long own, long ofEnded) {
    /** How long a tick is: Linux tells programs of hundredths of a second, whatever its own clock does. */
    static final double MILLIS = 10;

    private static final int PARENT = 1;
    private static final int USER = 11;
    private static final int SYSTEM = 12;
    private static final int USER_OF_ENDED = 13;
    private static final int SYSTEM_OF_ENDED = 14;

    /**
     * {@return what is said there}
     *
     * @param stat the content of {@code /proc/<pid>/stat}: a number, a name in parentheses, which may have spaces and
     *     parentheses itself, and numbers
     */
    static ProcessTicks parse(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
        return new ProcessTicks(
                Long.parseLong(stat.substring(0, stat.indexOf(' '))),
                Long.parseLong(fields[PARENT]),
                Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM]),
                Long.parseLong(fields[USER_OF_ENDED]) + Long.parseLong(fields[SYSTEM_OF_ENDED]));
    }
}
