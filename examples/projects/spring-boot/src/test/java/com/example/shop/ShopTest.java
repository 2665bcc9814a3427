package com.example.shop;

import dev.millrace.devdb.DevDatabase;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The application as it is started, once for all tests that extend this, with Flyway settings of its own that Millrace's
 * migrations must not notice.
 */
@SpringBootTest(properties = {"spring.flyway.table=shop_history", "spring.flyway.placeholders.schema=elsewhere"})
abstract class ShopTest {
    /** Ends with the JVM, after the application has closed its pool. */
    private static final DevDatabase SERVER = DevDatabase.start();

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
        properties.add("spring.datasource.url", SERVER::jdbcUrl);
        properties.add("spring.datasource.username", SERVER::user);
        properties.add("spring.datasource.password", SERVER::password);
    }
}
