package dev.millrace.examples.testing;

import static dev.millrace.examples.testing.Shop.REMIND;
import static dev.millrace.examples.testing.Shop.SHIP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.Millrace;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.testing.Shop.Carrier;
import dev.millrace.examples.testing.Shop.Ship;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

// tag::test[]
@MillraceTest
class ShopTest {
    private final Carrier carrier = new Carrier();
    private final Shop shop;
    private final TestKit kit;

    ShopTest(TestDatabase database, Millrace millrace, TestKit kit) {
        this.shop = new Shop(database.dataSource(), millrace, carrier);
        this.kit = kit.withHandlersOf(shop.worker());
    }

    @Test
    void order_placed_isToBeShipped_andRemindedOf() {
        shop.place(7);

        kit.assertSubmitted(SHIP).withPayload(new Ship(7)).inQueue("parcels").once();
        kit.assertSubmitted(REMIND).withDelay(Duration.ofDays(14)).once();
    }

    @Test
    void order_placed_isShipped() {
        shop.place(7);

        kit.runAllDue().forEach(JobRun::assertSucceeded);

        assertThat(carrier.parcels()).containsExactly(7L);
    }

    @Test
    void shipping_whileTheCarrierIsClosed_isTriedAgain() {
        carrier.close();

        JobRun run = kit.run(SHIP, new Ship(7)).assertQueuedAgain();

        assertThat(run.thrown()).hasMessage("The carrier is closed");
    }

    @Test
    void reminder_comesAfterTwoWeeks() {
        shop.place(7);

        kit.timePasses(Duration.ofDays(13));
        kit.runAllDue();
        assertThat(shop.reminded()).isEmpty();

        kit.timePasses(Duration.ofDays(1));
        kit.runAllDue();
        assertThat(shop.reminded()).containsExactly(7L);
    }
}
// end::test[]
