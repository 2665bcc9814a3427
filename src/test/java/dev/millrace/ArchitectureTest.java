package dev.millrace;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keeps the package table of docs/architecture.md true. Looks at what was compiled of the library, tests not included. */
class ArchitectureTest {
    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .importUrl(Millrace.class.getProtectionDomain().getCodeSource().getLocation());

    private static final String ROOT = "dev.millrace";
    private static final String ALL = "dev.millrace..";

    /** Usable by all: what tables and model have in common. */
    private static final String TYPES = "dev.millrace.types";

    private static final String TABLES = "dev.millrace.jooq..";

    /**
     * What a package may use, of this project and of others; itself, {@code types} and the JDK always.
     *
     * @param name the package
     * @param project packages of this project
     * @param libraries packages of others
     */
    record Row(String name, List<String> project, List<String> libraries) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final String JSPECIFY = "org.jspecify..";
    private static final String SLF4J = "org.slf4j..";
    private static final String MICROMETER = "io.micrometer..";
    private static final String ANY = "..";

    /** What several packages share that is not for applications. */
    private static final String INTERNAL = ROOT + ".internal";

    static final List<Row> TABLE = List.of(
            new Row(ROOT, List.of(ALL), List.of(ANY)),
            new Row(ROOT + ".job", List.of(), List.of("com.fasterxml.jackson.annotation..", JSPECIFY)),
            new Row(ROOT + ".store", List.of(ROOT + ".job"), List.of(JSPECIFY)),
            new Row(
                    ROOT + ".store.postgres",
                    List.of(ROOT + ".store", ROOT + ".job", ROOT + ".db", TABLES),
                    List.of(ANY)),
            new Row(ROOT + ".worker", List.of(ROOT + ".store", ROOT + ".job", INTERNAL), List.of(SLF4J, JSPECIFY)),
            new Row(
                    ROOT + ".recovery",
                    List.of(ROOT + ".store", ROOT + ".job", ROOT + ".backend", INTERNAL),
                    List.of(SLF4J, JSPECIFY)),
            new Row(INTERNAL, List.of(), List.of(SLF4J, JSPECIFY)),
            new Row(
                    ROOT + ".micrometer",
                    List.of(ROOT, ROOT + ".worker", ROOT + ".recovery", ROOT + ".store", ROOT + ".job"),
                    List.of(MICROMETER, SLF4J, JSPECIFY)),
            new Row(ROOT + ".backend", List.of(ROOT + ".store", ROOT + ".job", INTERNAL), List.of(SLF4J, JSPECIFY)),
            new Row(ROOT + ".lane", List.of(ROOT + ".store", ROOT + ".job"), List.of(SLF4J, JSPECIFY)),
            new Row(
                    ROOT + ".lane.postgres",
                    List.of(ROOT + ".lane", ROOT + ".store", ROOT + ".job", TABLES),
                    List.of(ANY)));

    /** Must be there, or a rule about them would pass for want of anything to look at. */
    private static final Set<String> BUILT = Set.of(
            ROOT,
            ROOT + ".job",
            ROOT + ".store",
            ROOT + ".store.postgres",
            ROOT + ".worker",
            ROOT + ".backend",
            ROOT + ".recovery",
            ROOT + ".micrometer",
            INTERNAL);

    /** Where statements are made. */
    private static final String[] SQL_PACKAGES = {ROOT, ROOT + ".store.postgres", ROOT + ".lane.postgres"};

    private static final Set<String> GIVES_WORK =
            Set.of("supplyAsync", "runAsync", "completeAsync", "parallelStream", "commonPool");

    private static final ArchRule NOT_IN_THE_COMMON_POOL = noClasses()
            .should()
            .callMethodWhere(describe(
                    "work is given to the common pool",
                    call -> GIVES_WORK.contains(call.getName())
                            && call.getTarget().getRawParameterTypes().stream()
                                    .noneMatch(type -> type.isEquivalentTo(Executor.class))));

    static List<Row> builtRows() {
        return TABLE.stream().filter(row -> packages().contains(row.name())).toList();
    }

    @Test
    void everyPackage_isInTheTable_andThoseThatAreBuiltAreLookedAt() {
        assertThat(LIBRARY).hasSizeGreaterThan(60);
        assertThat(TABLE).extracting(Row::name).containsAll(packages());
        assertThat(packages()).containsAll(BUILT);
    }

    @ParameterizedTest
    @MethodSource("builtRows")
    void package_usesOnlyWhatTheTableAllows(Row row) {
        onlyUsesWhatIsAllowed(row).check(LIBRARY);
    }

    @Test
    void tableRule_catchesWhatARowDoesNotAllow() {
        Row withoutStore = new Row(ROOT + ".worker", List.of(ROOT + ".job"), List.of(SLF4J, JSPECIFY));
        assertThat(onlyUsesWhatIsAllowed(withoutStore).evaluate(LIBRARY).hasViolation())
                .isTrue();
        Row withoutLogging = new Row(ROOT + ".recovery", List.of(ALL), List.of(JSPECIFY));
        assertThat(onlyUsesWhatIsAllowed(withoutLogging).evaluate(LIBRARY).hasViolation())
                .isTrue();
    }

    @Test
    void packages_haveNoCycles() {
        slices().matching("dev.(**)").should().beFreeOfCycles().check(LIBRARY);
    }

    @Test
    void jooqAndJdbc_areUsedOnlyWhereStatementsAreMade() {
        noClasses()
                .that()
                .resideOutsideOfPackages(SQL_PACKAGES)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.jooq..", TABLES, "java.sql..", "javax.sql..", "org.postgresql..")
                .check(LIBRARY);
    }

    /** Applications without Micrometer must not notice that others have it. */
    @Test
    void micrometer_isUsedInOnePackageOnly_andThatByNoOther() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".micrometer")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(MICROMETER, ROOT + ".micrometer")
                .check(LIBRARY);
    }

    @Test
    void implementations_areHiddenBehindOneFactoryInEachPackage() {
        for (String name : packages()) {
            if (name.endsWith(".postgres")) {
                assertThat(LIBRARY.stream()
                                .filter(type -> type.getPackageName().equals(name) && type.isTopLevelClass())
                                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                                .map(JavaClass::getSimpleName))
                        .as("public classes of %s", name)
                        .hasSize(1);
            }
        }
    }

    @Test
    void plainSql_isWrittenOnlyInTheOneAnnotatedClassOfItsPackage() {
        PlainSqlRule.RULE.check(LIBRARY);
        Map<String, Long> annotated = LIBRARY.stream()
                .filter(type -> type.isTopLevelClass() && PlainSqlRule.isAllowed(type))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
        assertThat(annotated).allSatisfy((name, count) -> assertThat(count).isOne());
    }

    @Test
    void plainSqlRule_catchesItInCallsAndReferences_andLetsTheAnnotatedClassPass() {
        assertThat(violations(PlainSqlRule.RULE, PlainSqlByCall.class)).hasSize(2);
        assertThat(violations(PlainSqlRule.RULE, PlainSqlByReference.class)).hasSize(1);
        assertThat(violations(PlainSqlRule.RULE, PlainSqlByJdbc.class)).hasSize(2);
        assertThat(violations(PlainSqlRule.RULE, PlainSqlAllowed.class)).isEmpty();
        assertThat(violations(PlainSqlRule.RULE, TypedSql.class)).isEmpty();
    }

    @Test
    void logging_goesThroughSlf4jOnly() {
        NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING.check(LIBRARY);
        NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(LIBRARY);
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.logging..", "org.apache.commons.logging..", "org.jooq.tools..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(System.Logger.class)
                .check(LIBRARY);
        assertThat(violations(NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS, Printer.class))
                .isNotEmpty();
    }

    @Test
    void staticFields_areConstants() {
        fields().that().areStatic().should().beFinal().check(LIBRARY);
    }

    /** Of the library and its tests: see {@link OwnThread}. */
    @Test
    void commonPool_runsNothing() {
        NOT_IN_THE_COMMON_POOL.check(LIBRARY);
        NOT_IN_THE_COMMON_POOL.check(new ClassFileImporter()
                .importUrl(ArchitectureTest.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation())
                .that(not(equivalentTo(InTheCommonPool.class))));
        assertThat(violations(NOT_IN_THE_COMMON_POOL, InTheCommonPool.class)).hasSize(2);
    }

    private static ArchRule onlyUsesWhatIsAllowed(Row row) {
        String[] allowed = Stream.of(
                        List.of(row.name(), TYPES, "java..", "javax.sql.."), row.project(), row.libraries())
                .flatMap(List::stream)
                .filter(name -> !name.equals(ANY))
                .toArray(String[]::new);
        DescribedPredicate<JavaClass> ofOthers = row.libraries().contains(ANY)
                ? not(resideInAPackage(ALL))
                : describe("primitive", type -> type.getBaseComponentType().isPrimitive());
        return classes()
                .that()
                .resideInAPackage(row.name())
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(allowed).or(ofOthers));
    }

    private static Set<String> packages() {
        Set<String> names = new TreeSet<>();
        LIBRARY.forEach(type -> names.add(type.getPackageName()));
        return names;
    }

    private static List<String> violations(ArchRule rule, Class<?> type) {
        return rule.evaluate(new ClassFileImporter().importClasses(type))
                .getFailureReport()
                .getDetails();
    }

    /** Marks the class that may, as the library's own annotation of this name does. */
    @interface AllowPlainSql {}

    static final class PlainSqlByCall {
        static void run(DSLContext dsl) {
            dsl.execute("select 1");
            dsl.select(DSL.field("now()")).fetch();
        }
    }

    static final class PlainSqlByReference {
        static List<Integer> run(DSLContext dsl) {
            return Stream.of("select 1").map(dsl::execute).toList();
        }
    }

    static final class PlainSqlByJdbc {
        static void run(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute("select 1");
            }
            connection.prepareStatement("select 1").close();
        }
    }

    @AllowPlainSql
    static final class PlainSqlAllowed {
        static void run(DSLContext dsl) {
            dsl.execute("select 1");
        }
    }

    static final class TypedSql {
        static void run(DSLContext dsl) {
            dsl.select(DSL.currentTimestamp()).fetch();
        }
    }

    static final class InTheCommonPool {
        static void run() {
            CompletableFuture.runAsync(() -> {}).join();
            List.of(1).parallelStream().forEach(number -> {});
        }
    }

    static final class Printer {
        static void run() {
            System.out.println("hello");
        }
    }
}
