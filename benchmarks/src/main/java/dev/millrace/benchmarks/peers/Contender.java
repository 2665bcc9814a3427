package dev.millrace.benchmarks.peers;

import dev.millrace.benchmarks.BenchDatabase;
import java.io.IOException;

/** Somebody who takes part: a library with its settings, and what has to be known so as to compare it. */
public final class Contender {
    private final String name;
    private final Launch launch;
    private final About about;

    /**
     * What has to be known.
     *
     * @param version of the library
     * @param settings what is not as by default, in words
     * @param fairness what makes a comparison with it unfair, to whichever side
     * @param ledger how its tables tell that jobs are finished
     */
    record About(String version, String settings, String fairness, Ledger ledger) {}

    private final int mostJobs;
    private final boolean several;
    private final boolean submitsHere;

    private Contender(String name, Launch launch, About about, int mostJobs, boolean several, boolean submitsHere) {
        this.name = name;
        this.launch = launch;
        this.about = about;
        this.mostJobs = mostJobs;
        this.several = several;
        this.submitsHere = submitsHere;
    }

    static Contender of(String name, Launch launch, About about) {
        return new Contender(name, launch, about, Integer.MAX_VALUE, false, false);
    }

    /** It is so slow that more jobs would take too long. */
    Contender withAtMost(int jobs) {
        return new Contender(name, launch, about, jobs, several, submitsHere);
    }

    /** It is also measured in several processes. */
    Contender inSeveralProcesses() {
        return new Contender(name, launch, about, mostJobs, true, submitsHere);
    }

    /** Its worker only learns at once of jobs that are submitted by its own process. */
    Contender submittingInItsProcess() {
        return new Contender(name, launch, about, mostJobs, several, true);
    }

    /** {@return its name, such as {@code db-scheduler tuned}} */
    public String name() {
        return name;
    }

    /** {@return the version of the library} */
    public String version() {
        return about.version();
    }

    /** {@return what is not as by default, in words} */
    public String settings() {
        return about.settings();
    }

    /** {@return what makes a comparison with it unfair, to whichever side} */
    public String fairness() {
        return about.fairness();
    }

    /** {@return how its tables tell that jobs are finished} */
    public Ledger ledger() {
        return about.ledger();
    }

    /** {@return whether it is so slow that it gets fewer jobs than others} */
    public boolean slow() {
        return mostJobs < Integer.MAX_VALUE;
    }

    /** {@return how many jobs it gets at most} */
    public int mostJobs() {
        return mostJobs;
    }

    /** {@return whether it is also measured in several processes} */
    public boolean several() {
        return several;
    }

    /** {@return whether jobs are submitted by the process of its worker} */
    public boolean submitsHere() {
        return submitsHere;
    }

    /** Makes its tables. */
    public void prepare(BenchDatabase database) throws Exception {
        launch.prepare(database);
    }

    /** {@return a process that submits} */
    public Peer submitter(BenchDatabase database) throws IOException, InterruptedException {
        return launch.start(database, Launch.Role.SUBMIT, 1, 0);
    }

    /**
     * {@return a process with a worker, which is to be told to start}
     *
     * @param concurrency how many handlers it runs at a time
     * @param capacity how many runs there has to be room for
     */
    public Peer worker(BenchDatabase database, int concurrency, int capacity) throws IOException, InterruptedException {
        Launch.Role role = submitsHere ? Launch.Role.BOTH : Launch.Role.WORK;
        return launch.start(database, role, concurrency, capacity);
    }

    @Override
    public String toString() {
        return name;
    }
}
