package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.shop.Orders.Confirmation;
import dev.millrace.Millrace;
import dev.millrace.job.Job;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A handler's test without the application: on a migrated schema that is this class's own. */
@MillraceTest
class ConfirmationTest {
    private final List<Confirmation> seen = new CopyOnWriteArrayList<>();
    private final Millrace millrace;
    private final TestKit kit;

    ConfirmationTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
    }

    @Test
    void confirmation_reachesItsHandlerAsItWasSubmitted() {
        kit.handle(Orders.CONFIRM, (confirmation, context) -> seen.add(confirmation))
                .run(Orders.CONFIRM, new Confirmation(7))
                .assertSucceeded();

        assertThat(seen).containsExactly(new Confirmation(7));
    }

    @Test
    void confirmation_reachesItsHandler_byAWorkerAsWell() throws Exception {
        Job job = millrace.submit(Orders.CONFIRM, new Confirmation(8));

        try (var worker = millrace.worker()
                .handle(Orders.CONFIRM, (confirmation, context) -> seen.add(confirmation))
                .start()) {
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
        }

        assertThat(seen).containsExactly(new Confirmation(8));
    }
}
