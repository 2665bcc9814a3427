package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.shop.Orders.Confirmation;
import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.types.JobStatus;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;

/** The end of the application while a job runs: the worker waits for the job, and the pool for the worker. */
@MillraceDatabase
class ShutdownTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void close_whileAHandlerRuns_writesItsOutcomeFirst(TestDatabase database) throws Exception {
        Millrace millrace = Millrace.on(database.dataSource());
        ConfigurableApplicationContext shop = start(database);
        CountDownLatch closing = new CountDownLatch(1);
        shop.addApplicationListener(event -> {
            if (event instanceof ContextClosedEvent) {
                closing.countDown();
            }
        });
        Job job;
        CompletableFuture<Void> closed;
        try (Connection obstacle = database.unpooledDataSource().getConnection();
                Statement statement = obstacle.createStatement()) {
            obstacle.setAutoCommit(false);
            statement.execute("LOCK TABLE orders");
            job = millrace.submit(Orders.CONFIRM, new Confirmation(1));
            await().atMost(PATIENCE).until(() -> millrace.get(job.id()).orElseThrow().status() == JobStatus.RUNNING);
            closed = CompletableFuture.runAsync(shop::close);
            assertThat(closing.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        closed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(millrace.get(job.id()).orElseThrow().status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    private static ConfigurableApplicationContext start(TestDatabase database) {
        return new SpringApplicationBuilder(ShopApplication.class)
                .run(
                        "--spring.datasource.url=" + database.jdbcUrl(),
                        "--spring.datasource.username=" + database.user(),
                        "--spring.datasource.password=" + database.password());
    }
}
