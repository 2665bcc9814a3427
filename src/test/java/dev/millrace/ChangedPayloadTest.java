package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.RetryResult;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Field case A21: payloads whose class has changed between their submission and their run. */
@MillraceDatabase
class ChangedPayloadTest {
    enum Colour {
        RED,
        GREEN
    }

    record Paint(Colour colour, String wall, int coats) {}

    enum NewColour {
        RED,
        LIME
    }

    /** Another name, a member less, one more, and a constant that is called otherwise. */
    record PaintJob(NewColour colour, String wall, String brush) {}

    enum BothColours {
        RED,
        GREEN,
        LIME
    }

    record MendedPaintJob(BothColours colour, String wall) {}

    private static final JobType<Paint> SUBMITTED = JobType.of("paint", Paint.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Millrace millrace;

    ChangedPayloadTest(TestDatabase database) {
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    @Test
    void jobsThatCanNoLongerBeRead_failAlone_keepTheirPayload_andRunOnceTheyCan() throws Exception {
        var once = SubmitOption.retry(RetryPolicy.DEFAULT.withMaxAttempts(1));
        Job red = millrace.submit(SUBMITTED, new Paint(Colour.RED, "north", 2), once);
        Job green = millrace.submit(SUBMITTED, new Paint(Colour.GREEN, "south", 1), once);
        Job alsoRed = millrace.submit(SUBMITTED, new Paint(Colour.RED, "east", 3), once);
        JsonText payload = green.spec().parameters();
        Map<String, String> painted = new ConcurrentHashMap<>();
        try (var worker = millrace.worker()
                .handle(
                        JobType.of("paint", PaintJob.class),
                        (paint, context) -> painted.put(paint.wall(), paint.colour() + " " + paint.brush()))
                .start()) {
            assertThat(millrace.await(red, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(millrace.await(alsoRed, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            Job failed = millrace.await(green, PATIENCE);
            assertThat(failed.status()).isEqualTo(JobStatus.FAILED);
            assertThat(failed.outcome().errorMessage()).contains("PaintJob").doesNotContain("south");
            assertThat(failed.spec().parameters()).isEqualTo(payload);
            assertThat(worker.status()).isNotNull();
        }
        assertThat(painted).containsOnly(Map.entry("north", "RED null"), Map.entry("east", "RED null"));

        assertThat(millrace.jobs().retry(green.id(), "ann", "LIME was GREEN")).isEqualTo(RetryResult.QUEUED);
        assertThat(millrace.get(green.id()).orElseThrow().spec().parameters()).isEqualTo(payload);
        try (var worker = millrace.worker()
                .handle(
                        JobType.of("paint", MendedPaintJob.class),
                        (paint, context) ->
                                painted.put(paint.wall(), paint.colour().name()))
                .start()) {
            assertThat(millrace.await(green, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status()).isNotNull();
        }
        assertThat(painted).containsEntry("south", "GREEN");
    }
}
