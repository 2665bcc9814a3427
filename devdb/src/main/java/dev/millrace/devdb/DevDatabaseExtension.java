package dev.millrace.devdb;

import dev.millrace.db.Migrator;
import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The JUnit Jupiter extension behind {@link MillraceDatabase}; use that.
 *
 * <p>It is written against JUnit 5.12, which Spring Boot 3.5 has, and runs on JUnit 6: that still has what it has
 * deprecated, while 5.12 does not have what came in its place.
 */
@SuppressWarnings("deprecation")
public final class DevDatabaseExtension implements ParameterResolver {

    private static final Namespace NAMESPACE = Namespace.create(DevDatabaseExtension.class);

    /** Called by JUnit. */
    public DevDatabaseExtension() {}

    /** The server, kept until all tests have run. */
    private record Shared(TestDatabases databases) implements CloseableResource, AutoCloseable {
        @Override
        public void close() {
            databases.close();
        }
    }

    /** The database of one class, kept until that has run. */
    private record OfClass(TestDatabase database) implements CloseableResource, AutoCloseable {
        @Override
        public void close() {
            database.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestDatabase.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return databaseOf(context);
    }

    /**
     * The database of a test class, for extensions that build on it.
     *
     * @param context of the class, which is annotated with {@link MillraceDatabase}, or of one of its tests
     * @return the same database that the class is given
     */
    public static TestDatabase databaseOf(ExtensionContext context) {
        ExtensionContext owner = owner(context);
        return kept(owner, OfClass.class, () -> new OfClass(create(owner))).database();
    }

    private static TestDatabase create(ExtensionContext testClass) {
        return kept(testClass.getRoot(), Shared.class, () -> new Shared(startForTests()))
                .databases()
                .create(schemaOf(testClass));
    }

    private static TestDatabases startForTests() {
        TestRole role = Settings.roleOfSurroundings();
        return new TestDatabases(DevDatabase.startForTests(), role);
    }

    /** The one of its type in that context, made when it is first asked for and closed with the context. */
    private static <T extends CloseableResource> T kept(ExtensionContext context, Class<T> type, Supplier<T> maker) {
        return Objects.requireNonNull(context.getStore(NAMESPACE).getOrComputeIfAbsent(type, key -> maker.get(), type));
    }

    private static String schemaOf(ExtensionContext testClass) {
        return AnnotationSupport.findAnnotation(testClass.getRequiredTestClass(), MillraceDatabase.class)
                .map(MillraceDatabase::schema)
                .filter(schema -> !schema.isEmpty())
                .or(Settings::schemaOfSurroundings)
                .orElse(Migrator.DEFAULT_SCHEMA);
    }

    /** Nested classes share the database of the outermost class that asks for one. */
    private static ExtensionContext owner(ExtensionContext context) {
        ExtensionContext owner = context;
        boolean annotated = false;
        for (ExtensionContext next = context;
                next != null && next.getTestClass().isPresent();
                next = next.getParent().orElse(null)) {
            boolean nextIsAnnotated = AnnotationSupport.isAnnotated(next.getTestClass(), MillraceDatabase.class);
            if (nextIsAnnotated || !annotated) {
                owner = next;
                annotated = nextIsAnnotated;
            }
        }
        return owner;
    }
}
