package dev.millrace.devdb;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a JUnit Jupiter test class an empty, migrated schema of its own, as a parameter of type {@link TestDatabase} of
 * its constructor, its lifecycle methods (static ones too) or its tests.
 *
 * <pre>{@code
 * @MillraceDatabase
 * class QueueTest {
 *     @Test
 *     void claim_ofLockedRow_skipsIt(TestDatabase database) { ... }
 * }
 * }</pre>
 *
 * <p>All classes of a JVM share one {@link DevDatabase}, started when the first of them asks. The schema is migrated
 * once, into a template, of which each class gets a copy as a database of its own; it is dropped after the class. So
 * classes can run at the same time; the tests of one class, and its nested classes, share its database. Where the
 * server was given and its user may not create databases, each class gets a schema of its own in the given database
 * instead: tests must use {@link TestDatabase#schema()} and not rely on a name. Tables that they make themselves then
 * lie in that database as well, and stay there unless they are dropped.
 *
 * <p>With the setting {@code millrace.devdb.role} ({@code MILLRACE_DEVDB_ROLE}) at {@code owner}, tests connect as a
 * role that owns the schema and may do nothing else, in a database without {@code public}, and a whole suite shows that
 * this is enough. What takes more, such as creating a role, goes through {@link TestDatabase#adminDataSource()}, which
 * is there in any case.
 *
 * <p>With the setting {@code millrace.devdb.strays} ({@code MILLRACE_DEVDB_STRAYS}) at {@code refused}, a class that leaves
 * something outside of its schema (a relation, a type, a function, another schema) fails after its last test. That is for
 * Millrace's own tests; by default tables of the application may lie beside the schema. Where the class has no database of
 * its own, this is not looked at.
 *
 * <p>The server is shared, and does not wait for the disk ({@code fsync} is off, which only a crash of the whole machine
 * would show). A test that stops or reconfigures one, or measures, starts its own, with
 * {@link DevDatabase#start(Provider)}.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(DevDatabaseExtension.class)
public @interface MillraceDatabase {

    /**
     * {@return the schema's name; empty for the setting {@code millrace.devdb.schema}, or else {@code millrace}}
     * With the setting, a whole suite runs in another schema.
     */
    String schema() default "";
}
