package com.example.shop;

import dev.millrace.Millrace;
import dev.millrace.micrometer.MillraceMetrics;
import dev.millrace.micrometer.MillraceObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/** A shop that confirms its orders by durable jobs. */
@SpringBootApplication
@EnableScheduling
public class ShopApplication {
    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }

    /** On Spring Boot's pool. Its schema is migrated beside that of the application, each with its own history. */
    @Bean
    Millrace millrace(DataSource dataSource, MillraceObservations observations) {
        Millrace millrace = Millrace.on(dataSource).withTracing(observations.current());
        millrace.migrate();
        return millrace;
    }

    /** In the registry of Spring Boot's actuator, of whatever monitoring system. */
    @Bean
    MillraceMetrics millraceMetrics(MeterRegistry registry, Millrace millrace) {
        MillraceMetrics metrics = MillraceMetrics.of(registry);
        metrics.watchQueues(millrace);
        return metrics;
    }

    @Bean
    MillraceObservations millraceObservations(ObservationRegistry registry) {
        return MillraceObservations.of(registry);
    }
}
