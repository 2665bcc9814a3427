package dev.millrace;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Statements are composed of generated tables, not written as text. jOOQ marks the methods that take text, but for those of
 * its own contexts; these and JDBC's are listed here. What the DSL can't express sits in a class that is annotated with {@code @AllowPlainSql} (by simple name,
 * so that each package can have its own), with a reason.
 */
final class PlainSqlRule {
    private static final String PLAIN_SQL = "org.jooq.PlainSQL";
    private static final String ALLOWED = "AllowPlainSql";
    private static final Set<String> JDBC_METHODS = Set.of(
            "execute",
            "executeQuery",
            "executeUpdate",
            "executeLargeUpdate",
            "addBatch",
            "prepareStatement",
            "prepareCall",
            "nativeSQL");

    static final ArchRule RULE = classes()
            .should(writeNoPlainSql())
            .because("a change of the schema must break compilation, not production");

    private PlainSqlRule() {}

    /** Whether the class, or one around it, may write plain SQL. */
    static boolean isAllowed(JavaClass type) {
        boolean annotated = type.getAnnotations().stream()
                .anyMatch(annotation -> annotation.getRawType().getSimpleName().equals(ALLOWED));
        return annotated
                || type.getEnclosingClass().map(PlainSqlRule::isAllowed).orElse(false);
    }

    private static ArchCondition<JavaClass> writeNoPlainSql() {
        return new ArchCondition<>("write no plain SQL, unless annotated with @" + ALLOWED) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (!isAllowed(type)) {
                    type.getCodeUnits().stream()
                            .flatMap(PlainSqlRule::accesses)
                            .filter(access -> takesSql(access.getTarget()))
                            .forEach(access ->
                                    events.add(SimpleConditionEvent.violated(access, access.getDescription())));
                }
            }
        };
    }

    private static Stream<JavaCodeUnitAccess<?>> accesses(JavaCodeUnit unit) {
        return Stream.of(
                        unit.getMethodCallsFromSelf(),
                        unit.getMethodReferencesFromSelf(),
                        unit.getConstructorCallsFromSelf(),
                        unit.getConstructorReferencesFromSelf())
                .flatMap(Set::stream);
    }

    private static boolean takesSql(CodeUnitAccessTarget target) {
        JavaClass owner = target.getOwner();
        if (owner.getPackageName().equals("java.sql")) {
            return JDBC_METHODS.contains(target.getName())
                    && !target.getRawParameterTypes().isEmpty()
                    && target.getRawParameterTypes().get(0).isEquivalentTo(String.class);
        }
        if (owner.isAssignableTo("org.jooq.Context") && target.getName().equals("sql")) {
            return true;
        }
        String[] parameters =
                target.getRawParameterTypes().stream().map(JavaClass::getName).toArray(String[]::new);
        // An implementation need not repeat the annotation of what it overrides.
        Stream<JavaClass> declaring = Stream.of(
                        Set.of(owner), owner.getAllRawSuperclasses(), owner.getAllRawInterfaces())
                .flatMap(Collection::stream);
        return declaring
                .flatMap(type -> type.tryGetMethod(target.getName(), parameters).stream())
                .anyMatch(method -> method.isAnnotatedWith(PLAIN_SQL));
    }
}
