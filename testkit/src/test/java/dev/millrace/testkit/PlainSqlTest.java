package dev.millrace.testkit;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import org.jooq.DSLContext;
import org.jooq.PlainSQL;
import org.junit.jupiter.api.Test;

/** A change of the schema breaks the kit's compilation, not users' tests. */
class PlainSqlTest {
    private static final ArchRule NO_PLAIN_SQL = noClasses()
            .should()
            .callMethodWhere(describe("plain SQL is written", PlainSqlTest::takesSql))
            .orShould()
            .dependOnClassesThat()
            .belongToAnyOf(java.sql.Statement.class, java.sql.PreparedStatement.class);

    @Test
    void kit_writesNoPlainSql_andTheRuleWouldSeeIt() {
        JavaClasses kit = new ClassFileImporter()
                .importUrl(TestKit.class.getProtectionDomain().getCodeSource().getLocation());
        assertThat(kit).hasSizeGreaterThan(10);
        NO_PLAIN_SQL.check(kit);
        assertThat(NO_PLAIN_SQL
                        .evaluate(new ClassFileImporter().importClasses(PlainSql.class))
                        .hasViolation())
                .isTrue();
    }

    private static boolean takesSql(JavaMethodCall call) {
        return call.getTarget()
                .resolveMember()
                .map(method -> method.isAnnotatedWith(PlainSQL.class))
                .orElse(false);
    }

    static final class PlainSql {
        static void run(DSLContext dsl) {
            dsl.execute("select 1");
        }
    }
}
