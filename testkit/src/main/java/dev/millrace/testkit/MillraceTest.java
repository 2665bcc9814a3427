package dev.millrace.testkit;

import dev.millrace.devdb.MillraceDatabase;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * For JUnit Jupiter: gives a test class a {@link dev.millrace.Millrace} on an empty, migrated database of its own, and a
 * {@link TestKit} that sees the jobs of the test at hand only, as parameters of its constructor, its lifecycle methods or
 * its tests. The database is that of {@link MillraceDatabase}, whose {@code TestDatabase} is there as well; tests of one class share
 * it, and should not run at the same time.
 *
 * <pre>{@code
 * @MillraceTest
 * class ShippingTest {
 *     @Test
 *     void ship_ofPaidOrder_succeeds(TestKit kit) {
 *         kit.handle(SHIP, shipping::ship).run(SHIP, new Ship(7)).assertSucceeded();
 *     }
 * }
 * }</pre>
 *
 * <p>The kit is the same wherever one test is given it, and has no handlers.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@MillraceDatabase
@ExtendWith(TestKitExtension.class)
public @interface MillraceTest {}
