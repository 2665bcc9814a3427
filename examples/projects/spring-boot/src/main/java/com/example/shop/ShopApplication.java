package com.example.shop;

import dev.millrace.Millrace;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A shop that confirms its orders by durable jobs. */
@SpringBootApplication
public class ShopApplication {
    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }

    /** On Spring Boot's pool. Its schema is migrated beside that of the application, each with its own history. */
    @Bean
    Millrace millrace(DataSource dataSource) {
        Millrace millrace = Millrace.on(dataSource);
        millrace.migrate();
        return millrace;
    }
}
