package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.shop.Orders.Confirmation;
import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A handler's test without the application: on a migrated schema that is this class's own. */
@MillraceDatabase
class ConfirmationTest {
    @Test
    void confirmation_reachesItsHandlerAsItWasSubmitted(TestDatabase database) throws Exception {
        Millrace millrace = Millrace.on(database.dataSource());
        List<Confirmation> seen = new CopyOnWriteArrayList<>();
        var job = millrace.submit(Orders.CONFIRM, new Confirmation(7));

        try (var worker = millrace.worker()
                .handle(Orders.CONFIRM, (confirmation, context) -> seen.add(confirmation))
                .start()) {
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
        }

        assertThat(seen).containsExactly(new Confirmation(7));
    }
}
