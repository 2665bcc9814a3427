package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Field case A29: a payload that changes while it is written costs at most its own submit, and later changes nothing. */
@MillraceDatabase
class MutatedPayloadTest {
    record Order(Collection<Item> items) {}

    /** An item that adds another one to its order whenever it is written. */
    static final class Item {
        private final Collection<Item> order;

        Item(Collection<Item> order) {
            this.order = order;
        }

        public int getNumber() {
            order.add(new Item(order));
            return order.size();
        }
    }

    record Cart(List<Integer> items, Map<String, Integer> counts) {}

    private static final JobType<Order> ORDER = JobType.of("order", Order.class);
    private static final JobType<Cart> CART = JobType.of("cart", Cart.class);

    private final TestDatabase database;
    private final Millrace millrace;

    MutatedPayloadTest(TestDatabase database) {
        this.database = database;
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    @Test
    void payloadThatChangesWhileItIsWritten_isRefusedByName_andNothingIsStored() {
        Collection<Item> items = new LinkedHashSet<>();
        items.add(new Item(items));
        items.add(new Item(items));
        assertThatThrownBy(() -> millrace.submit(ORDER, new Order(items), SubmitOption.id("order-1")))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("payload of kind \"order\"")
                .hasRootCauseInstanceOf(ConcurrentModificationException.class);
        assertThat(millrace.get("order-1")).isEmpty();
        Job next = millrace.submit(ORDER, new Order(List.of()), SubmitOption.id("order-1"));
        assertThat(next.status()).isEqualTo(JobStatus.QUEUED);
    }

    /** Each of them is refused or whole: never half a text, never another exception. */
    @Test
    void payloadThatAnotherThreadChangesAllTheTime_isRefusedOrWhole() throws Exception {
        Cart cart = new Cart(new ArrayList<>(), new LinkedHashMap<>());
        AtomicBoolean ended = new AtomicBoolean();
        Thread shopper = new Thread(() -> {
            for (int i = 0; !ended.get(); i++) {
                cart.items().add(i);
                cart.counts().put("item-" + i, i);
                if (i % 50 == 0) {
                    cart.items().clear();
                    cart.counts().clear();
                }
            }
        });
        shopper.start();
        try {
            JacksonPayloads payloads = new JacksonPayloads(new ObjectMapper());
            int refused = 0;
            for (int i = 0; i < 2_000; i++) {
                try {
                    payloads.decode(CART, payloads.encode(CART, cart));
                } catch (InvalidJobException e) {
                    refused++;
                }
            }
            System.out.println("Refused: " + refused + " of 2000");
        } finally {
            ended.set(true);
            shopper.join();
        }
    }

    @Test
    void payloadThatChangesAfterItsSubmit_isStoredAsItWas() throws Exception {
        List<Integer> items = new ArrayList<>(List.of(1));
        try (Connection connection = database.unpooledDataSource().getConnection()) {
            connection.setAutoCommit(false);
            Cart cart = new Cart(items, new LinkedHashMap<>());
            String id = millrace.in(connection).submit(CART, cart).id();
            items.add(2);
            connection.commit();
            JsonText stored = millrace.get(id).orElseThrow().spec().parameters();
            assertThat(stored).isEqualTo(JsonText.of("{\"items\":[1],\"counts\":{}}"));
        }
    }

    @Test
    void handlerThatChangesItsPayload_findsItAsSubmittedInTheNextAttempt() throws Exception {
        JobType<Cart> changing = JobType.of("changing", Cart.class);
        List<List<Integer>> seen = new CopyOnWriteArrayList<>();
        Job job = millrace.submit(
                changing, new Cart(List.of(1), Map.of()), SubmitOption.retry(RetryPolicy.fixed(2, Duration.ZERO)));
        try (var worker = millrace.worker()
                .pollInterval(Duration.ofMillis(20))
                .handle(changing, (cart, context) -> {
                    seen.add(List.copyOf(cart.items()));
                    cart.items().add(2);
                    throw new IllegalStateException("after the change");
                })
                .start()) {
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.FAILED);
            assertThat(worker.status().healthy()).isTrue();
        }
        assertThat(seen).containsExactly(List.of(1), List.of(1));
    }
}
