package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.shop.Orders.Confirmation;
import dev.millrace.Millrace;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.TestKit;
import org.jooq.DSLContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.transaction.annotation.Transactional;

/** Jobs are submitted and run in the test's transaction, of which Spring leaves nothing. */
// tag::spring[]
@Transactional // rolled back after each test
class RolledBackTest extends ShopTest {
    @Autowired
    private Orders orders;

    @Autowired
    private Millrace millrace;

    private TestKit kit;

    @BeforeEach
    void kit(@Autowired DSLContext dsl, @Autowired JobRunner runner) {
        kit = TestKit.on(millrace)
                .withHandlersOf(runner.worker())
                .in(dsl.configuration())
                .sinceNow();
    }

    @Test
    void order_placed_isConfirmed() {
        orders.place(10, true);

        kit.assertSubmitted(Orders.CONFIRM).withPayload(new Confirmation(10)).once();
        kit.runAllDue().forEach(JobRun::assertSucceeded);
        assertThat(orders.isConfirmed(10)).isTrue();
    }

    @AfterTransaction
    void nothing_isLeft() {
        assertThat(orders.exists(10)).isFalse();
        assertThat(millrace.get(Orders.jobId(10))).isEmpty();
    }
}
// end::spring[]
