package dev.millrace.benchmarks.drain;

/**
 * How the jobs of a queue are submitted: first one by one, then in bulk, and of either some that are not measured, so that the
 * code is compiled. In this order, each from the number at which the one before it ends:
 *
 * <pre>
 * one by one, not measured   until oneByOne
 * one by one                 until oneEnd
 * in bulk, not measured      until manyBegin
 * in bulk                    until jobs
 * </pre>
 *
 * @param jobs how many there are
 * @param oneByOne how many are measured one by one, after as many that are not; none, if only the drain counts
 */
record DrainPortions(int jobs, int oneByOne) {
    /** Of a short queue, half is left for bulk. */
    private static final int LEAST_SHARE = 4;

    private static final int WARM_UP_SHARE = 10;

    /**
     * {@return those of so many jobs}
     *
     * @param most how many are measured one by one, if there are enough jobs
     */
    static DrainPortions of(int jobs, int most) {
        return new DrainPortions(jobs, Math.min(most, jobs / LEAST_SHARE));
    }

    int oneEnd() {
        return 2 * oneByOne;
    }

    int manyBegin() {
        return oneEnd() + Math.max(1, (jobs - oneEnd()) / WARM_UP_SHARE);
    }

    /** How many are measured in bulk. */
    int many() {
        return jobs - manyBegin();
    }
}
