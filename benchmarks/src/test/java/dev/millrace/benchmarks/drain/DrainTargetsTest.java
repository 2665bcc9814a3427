package dev.millrace.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.benchmarks.Target;
import org.junit.jupiter.api.Test;

class DrainTargetsTest {
    private static final String MILLRACE = "Millrace tuned";
    private static final String DB_SCHEDULER = "db-scheduler tuned";

    private final DrainFixture drain = new DrainFixture();

    @Test
    void targets_areMediansOfTheRoundsRatios_ofTheUsualNumberOfJobs() {
        drain.withWal(MILLRACE, 20_000, 3_000, 100, 300, 200)
                .withWal(DB_SCHEDULER, 20_000, 1_000, 50, 50, 200)
                .drained(MILLRACE, 100_000, 900)
                .drained(DB_SCHEDULER, 100_000, 100);
        assertThat(drain.results().targets())
                .containsExactly(
                        new Target(
                                "jobs a second by one process of Millrace tuned, in relation to db-scheduler tuned",
                                2,
                                ">=",
                                3),
                        new Target(
                                "WAL from a job's submission to its success, without full-page images, of Millrace tuned,"
                                        + " in relation to db-scheduler tuned",
                                3,
                                "<=",
                                1.5));
    }

    @Test
    void targets_needBothSides() {
        drain.drained(MILLRACE, 20_000, 100).drained("Quartz tuned", 1_000, 100);
        assertThat(drain.results().targets()).isEmpty();
        assertThat(new DrainFixture()
                        .drained(DB_SCHEDULER, 20_000, 100)
                        .results()
                        .targets())
                .isEmpty();
    }

    @Test
    void targets_needTheSameNumberOfJobs() {
        drain.drained(MILLRACE, 20_000, 100).drained(DB_SCHEDULER, 4_000, 100).drained(DB_SCHEDULER, 100_000, 100);
        assertThat(drain.results().targets()).isEmpty();
    }
}
