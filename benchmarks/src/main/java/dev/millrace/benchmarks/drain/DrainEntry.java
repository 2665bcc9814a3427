package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.peers.Contender;
import dev.millrace.benchmarks.peers.Contenders;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A queue and who drains it: a row of the report.
 *
 * @param processes how many processes drain it
 * @param jobs how many jobs are in it
 */
record DrainEntry(Contender contender, int processes, int jobs) {
    /** Those who also drain a queue that is so large that their processes are warm for most of it. */
    private static final Set<String> WARM = Set.of(Contenders.MILLRACE_TUNED, Contenders.DB_SCHEDULER);

    /** How many jobs are in the large queues. */
    static final int WARM_JOBS = 100_000;

    private static final int ROUNDS = 5;
    private static final int ROUNDS_OF_SEVERAL = 3;
    private static final int SLOW_ROUNDS = 2;
    private static final int WARM_ROUNDS = 2;

    /** {@return all of these contenders: those with one process first, the large queues last} */
    static List<DrainEntry> all(List<Contender> contenders, Size size) {
        List<DrainEntry> all = new ArrayList<>();
        contenders.forEach(contender -> all.add(new DrainEntry(contender, 1, jobs(size, contender))));
        if (size != Size.TINY) {
            contenders.stream()
                    .filter(Contender::several)
                    .forEach(contender -> all.add(new DrainEntry(contender, size.of(2, 2, 4), jobs(size, contender))));
        }
        if (size == Size.FULL) {
            contenders.stream()
                    .filter(contender -> WARM.contains(contender.name()))
                    .forEach(contender -> all.add(new DrainEntry(contender, 1, WARM_JOBS)));
        }
        return all;
    }

    /** {@return how many jobs a queue has but for those of the slow, and but for the large ones} */
    static int usual(Size size) {
        return size.of(60, 400, 20_000);
    }

    private static int jobs(Size size, Contender contender) {
        return contender.slow() ? Math.min(usual(size), size.of(16, 32, contender.mostJobs())) : usual(size);
    }

    /** {@return what measurements are of} */
    static Map<String, String> of(String system, int processes, int jobs) {
        Map<String, String> of = new LinkedHashMap<>();
        of.put("system", system);
        of.put("processes", Integer.toString(processes));
        of.put("jobs", Integer.toString(jobs));
        return of;
    }

    /** {@return what its measurements are of} */
    Map<String, String> of() {
        return of(contender.name(), processes, jobs);
    }

    int rounds(Size size) {
        int most = contender.slow() ? SLOW_ROUNDS : processes > 1 ? ROUNDS_OF_SEVERAL : ROUNDS;
        return size.of(1, 1, jobs == WARM_JOBS ? WARM_ROUNDS : most);
    }

    /** How it is submitted. */
    DrainPortions portions(Size size) {
        return DrainPortions.of(jobs, showsSubmissions() ? size.of(10, 100, 1_000) : 0);
    }

    /** Whether its submissions are looked at, too: once for each contender. */
    boolean showsSubmissions() {
        return processes == 1 && jobs != WARM_JOBS;
    }

    /** Whether a ratio of both says something: the first jobs are the slowest, so that more of them would be an advantage. */
    boolean comparesWith(DrainEntry other) {
        return processes == other.processes && jobs == other.jobs;
    }

    @Override
    public String toString() {
        return contender + ", " + processes + (processes == 1 ? " process, " : " processes, ") + jobs + " jobs";
    }
}
