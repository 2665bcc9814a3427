package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** What the application shows of its jobs to those who operate it. */
@MillraceDatabase
class SeenFromOutsideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void meters_andAvailability_followTheJobsAndTheirDatabase(TestDatabase database) throws Exception {
        try (ConfigurableApplicationContext shop = new SpringApplicationBuilder(ShopApplication.class)
                .run(
                        "--spring.datasource.url=" + database.jdbcUrl(),
                        "--spring.datasource.username=" + database.user(),
                        "--spring.datasource.password=" + database.password(),
                        "--shop.availability-interval=50ms")) {
            ApplicationAvailability availability = shop.getBean(ApplicationAvailability.class);
            MeterRegistry meters = shop.getBean(MeterRegistry.class);
            shop.getBean(Orders.class).place(1, true);
            shop.getBean(Millrace.class).await(Orders.jobId(1), PATIENCE);

            await().atMost(PATIENCE).until(() -> meters.find("millrace.jobs.run")
                            .tags("kind", "confirm-order", "outcome", "succeeded")
                            .timer()
                    != null);
            assertThat(meters.get("millrace.workers.alive").gauge().value()).isEqualTo(1);
            assertThat(meters.get("millrace.job.run").tag("outcome", "returned").timer().count())
                    .isEqualTo(1);
            await().atMost(PATIENCE)
                    .until(() -> availability.getReadinessState() == ReadinessState.ACCEPTING_TRAFFIC);
            assertThat(availability.getLivenessState()).isEqualTo(LivenessState.CORRECT);

            try (Connection operator = database.unpooledDataSource().getConnection();
                    Statement statement = operator.createStatement()) {
                statement.execute("ALTER TABLE millrace.controls RENAME TO controls_away");
                statement.execute("ALTER TABLE millrace.execution_jobs RENAME TO execution_jobs_away");
                await().atMost(PATIENCE)
                        .until(() -> availability.getReadinessState() == ReadinessState.REFUSING_TRAFFIC);
                statement.execute("ALTER TABLE millrace.execution_jobs_away RENAME TO execution_jobs");
                statement.execute("ALTER TABLE millrace.controls_away RENAME TO controls");
            }
            await().atMost(PATIENCE)
                    .until(() -> availability.getReadinessState() == ReadinessState.ACCEPTING_TRAFFIC);
            assertThat(availability.getLivenessState()).isEqualTo(LivenessState.CORRECT);
        }
    }
}
