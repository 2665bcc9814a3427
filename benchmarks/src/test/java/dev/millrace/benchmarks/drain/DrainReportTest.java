package dev.millrace.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.benchmarks.FamilyResults;
import org.junit.jupiter.api.Test;

class DrainReportTest {
    private static final String MILLRACE = "Millrace tuned";
    private static final String DB_SCHEDULER = "db-scheduler tuned";

    private final DrainFixture drain = new DrainFixture()
            .withWal(MILLRACE, 20_000, 1_500, 200)
            .withWal(DB_SCHEDULER, 20_000, 500, 100)
            .drained("Quartz tuned", 1_000, 10);

    @Test
    void rowOfALargeQueue_hasItsOwnNumbers() {
        drain.drained(MILLRACE, 100_000, 900).drained(DB_SCHEDULER, 100_000, 300);
        assertThat(markdown())
                .contains(
                        "| Millrace tuned | 20000 | 200 | 400 | 0.500 | 0 | 2 |",
                        "| Quartz tuned | 1000 | 10 | 20 | 0.500 | 0 |  |",
                        "| Millrace tuned | 100000 | 900 | 1,800 | 0.500 | 0 | 3 |",
                        "| db-scheduler tuned | 100000 | 300 | 600 | 0.500 | 0 | 1 |")
                .contains("Who is there twice");
    }

    @Test
    void costs_areThoseOfEachQueue_submissionsThoseOfTheUsualOne() {
        drain.withWal(MILLRACE, 100_000, 7_777, 900);
        assertThat(markdown())
                .contains(
                        "| Millrace tuned | 20000 | 0.105 | 0.060 | 1 | 1 | 1,500 | 1 | 3,000 |",
                        "| Millrace tuned | 100000 | 0.105 | 0.060 | 1 | 1 | 7,777 | 1 |  |",
                        "| Millrace tuned | 1,000 | 10 | 1,500 | 16,200 | 20 | 1,500 |")
                .doesNotContain("| 10 | 7,777");
    }

    @Test
    void thoseAsTheyCome_areComparedWithEachOther() {
        drain.drained("Millrace", 4_000, 30).drained("db-scheduler", 4_000, 60);
        assertThat(markdown())
                .contains(
                        "run again | times db-scheduler tuned | times db-scheduler |",
                        "| Millrace tuned | 20000 | 200 | 400 | 0.500 | 0 | 2 |  |",
                        "| Millrace | 4000 | 30 | 60 | 0.500 | 0 |  | 0.500 |",
                        "| db-scheduler | 4000 | 60 | 120 | 0.500 | 0 |  | 1 |");
    }

    @Test
    void rateInBulk_isNotGiven_ofFewJobs() {
        assertThat(markdown()).contains("| Quartz tuned | 250 | 10 | 1,000 | 450 |  | 1,000 |");
    }

    @Test
    void processorsThatALargeQueueKeepsBusy_areSaid() {
        drain.drained(MILLRACE, 100_000, 8_774);
        assertThat(markdown())
                .contains("Millrace tuned with 100,000 jobs: 105 + 60 us a job, at 8,774 jobs/s 1.4 of 2 cores.\n");
    }

    @Test
    void processorTimeOfTheServer_isLeftOut_whereTheSystemDoesNotTell() {
        drain.withoutServer().drained("floor, 50 at a time", 20_000, 10).drained(MILLRACE, 100_000, 900);
        assertThat(markdown())
                .contains("| floor, 50 at a time | 20000 | 0.105 |  | 1 |")
                .doesNotContain("us a job");
    }

    @Test
    void withoutLargeQueues_nobodyIsThereTwice() {
        assertThat(markdown()).doesNotContain("Who is there twice");
    }

    @Test
    void plot_hasABarForEachQueue() {
        drain.drained(MILLRACE, 100_000, 900);
        assertThat(new DrainReport(drain.results()).rendering().plots().get("drain.svg"))
                .contains("Millrace tuned, 20000<", "Millrace tuned, 100000<");
    }

    @Test
    void targets_areBelow_ifThereAreSome() {
        assertThat(markdown()).contains("in relation to db-scheduler tuned | 2 | >= 3 | **missed** |");
        FamilyResults one = new DrainFixture().drained(MILLRACE, 20_000, 200).results();
        assertThat(new DrainReport(one).rendering().markdown()).doesNotContain("| target |");
    }

    private String markdown() {
        return new DrainReport(drain.results()).rendering().markdown();
    }
}
