package dev.millrace.benchmarks;

import java.time.Duration;

/**
 * One family of evidence: a run that measures one thing, checks that it has done what it says, and how its results look in
 * the report. Each run has a server of its own, which nobody else uses meanwhile.
 */
public interface Family {
    /** {@return its name on the command line, of its file of results and of its place in the report: lower case} */
    String name();

    /** {@return what it measures, in one sentence} */
    String measures();

    /** {@return how long a full run takes, its preparation included} */
    Duration planned();

    /**
     * Measures, into {@link Bench#results()}.
     *
     * @param bench the server, the size, and where results go
     * @throws CheckFailedException if something else was done than was asked for
     * @throws Exception if it can't be done
     */
    void run(Bench bench) throws Exception;

    /**
     * {@return its part of the report}
     *
     * @param results what a run has found
     */
    Rendering render(FamilyResults results);
}
