package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.shop.Orders.PaymentRefusedException;
import dev.millrace.Millrace;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.List;
import org.jooq.DSLContext;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;

/** Orders and their jobs in the running application. */
class OrdersTest extends ShopTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Autowired
    private Orders orders;

    @Autowired
    private Millrace millrace;

    @Autowired
    private DSLContext dsl;

    @Autowired
    private JdbcTemplate jdbc;

    @Test
    void place_committed_runsTheJob() throws Exception {
        orders.place(1, true);

        assertThat(millrace.await(Orders.jobId(1), PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(orders.isConfirmed(1)).isTrue();
    }

    @Test
    void place_rolledBack_leavesNeitherOrderNorJob() {
        assertThatThrownBy(() -> orders.place(2, false)).isInstanceOf(PaymentRefusedException.class);

        assertThat(orders.exists(2)).isFalse();
        assertThat(millrace.get(Orders.jobId(2))).isEmpty();
    }

    @Test
    void placeByJdbc_committed_runsTheJob() throws Exception {
        orders.placeByJdbc(3, true);

        assertThat(millrace.await(Orders.jobId(3), PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(orders.isConfirmed(3)).isTrue();
    }

    @Test
    void placeByJdbc_rolledBack_leavesNeitherOrderNorJob() {
        assertThatThrownBy(() -> orders.placeByJdbc(4, false)).isInstanceOf(PaymentRefusedException.class);

        assertThat(orders.exists(4)).isFalse();
        assertThat(millrace.get(Orders.jobId(4))).isEmpty();
    }

    @Test
    void submit_inNoTransaction_isRefused() {
        assertThatThrownBy(() -> millrace.in(dsl.configuration()).submit(Orders.CONFIRM, new Orders.Confirmation(5)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("auto-commit");
    }

    @Test
    void migrations_haveSeparateHistories() {
        assertThat(scripts("public.shop_history")).containsExactly("V1__orders.sql");
        assertThat(scripts("millrace.millrace_schema_history")).isNotEmpty().doesNotContain("V1__orders.sql");
        assertThat(jdbc.queryForList(
                        "SELECT table_schema || '.' || table_name FROM information_schema.tables"
                                + " WHERE table_schema NOT IN ('pg_catalog', 'information_schema', 'millrace')",
                        String.class))
                .containsExactlyInAnyOrder("public.orders", "public.shop_history");
    }

    private List<String> scripts(String history) {
        return jdbc.queryForList(
                "SELECT script FROM " + history + " WHERE type = 'SQL' ORDER BY installed_rank", String.class);
    }
}
