package dev.millrace.testkit;

import dev.millrace.Millrace;
import dev.millrace.devdb.DevDatabaseExtension;
import dev.millrace.devdb.TestDatabase;
import java.util.Objects;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** The JUnit Jupiter extension behind {@link MillraceTest}; use that. Written against JUnit 5.12, and runs on JUnit 6. */
@SuppressWarnings("deprecation")
public final class TestKitExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(TestKitExtension.class);

    /** Called by JUnit. */
    public TestKitExtension() {}

    /** So that a constructor is given what the test that follows is given, rather than what the class is. */
    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext rootContext) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Millrace.class || type == TestKit.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestKit.class ? kit(context) : millrace(context);
    }

    /** One for each test; where there is no test yet, as in {@code @BeforeAll}, one for the class. */
    private static TestKit kit(ExtensionContext context) {
        return Objects.requireNonNull(context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(
                        context.getUniqueId(),
                        key -> TestKit.on(millrace(context)).sinceNow(),
                        TestKit.class));
    }

    private static Millrace millrace(ExtensionContext context) {
        TestDatabase database = DevDatabaseExtension.databaseOf(context);
        return Millrace.on(database.dataSource()).withSchema(database.schema());
    }
}
