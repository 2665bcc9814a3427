package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.store.ClaimRequest;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Op;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Most claims begin where the last one did; but nothing is left behind for long, and no queue taken for empty by these. */
@Timeout(60)
class ThoroughClaimsTest {
    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;

    @AfterEach
    void close() {
        fixture.close();
    }

    private long thorough() {
        return source.claimRequests.stream().filter(ClaimRequest::thorough).count();
    }

    @Test
    void firstClaim_isThorough_andThoseThatFollowAtOnceAreNot() {
        source.submit(500, "work");
        fixture.start(settings -> settings.withConcurrency(1), (payload, context) -> {});
        until(source::allSucceeded);
        assertThat(source.claimRequests.get(0).thorough()).isTrue();
        assertThat(thorough()).isLessThan(source.calls(Op.CLAIM) / 2);
    }

    /** Its poll interval is an hour. */
    @Test
    void quickClaimInVain_isFollowedByAThoroughOne_soon() {
        CountDownLatch gate = fixture.gate();
        source.submit("work");
        Worker worker = fixture.start((payload, context) -> WorkerFixture.await(gate));
        until(() -> source.calls(Op.CLAIM) >= 2); // the second one found nothing, and was quick
        String late = source.submit("work");
        source.passOver(late);
        worker.wakeUp();
        gate.countDown();
        until(() -> source.status(late) == JobStatus.SUCCEEDED);
        assertThat(thorough()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void idleWorker_rests_afterAThoroughClaimInVain() {
        source.submit("work");
        fixture.start((payload, context) -> {});
        until(source::allSucceeded);
        until(() -> thorough() == 2);
        assertThat(source.claimRequests.get(source.claimRequests.size() - 1).thorough())
                .isTrue();
    }
}
