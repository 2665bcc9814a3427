package dev.millrace.examples.testing;

import static dev.millrace.examples.testing.Shop.SHIP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.Document;
import dev.millrace.examples.testing.Shop.Carrier;
import dev.millrace.examples.testing.Shop.Ship;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.AssignedClaim;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JsonText;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/** The code that docs/testing.md shows is compiled and run: by {@link ShopTest}, here, and in the project spring-boot. */
@MillraceTest
class GuideTest {
    private static final Path TESTS = Path.of("src/test/java/dev/millrace/examples/testing");
    private static final Path SPRING_PROJECT = Path.of("projects/spring-boot");

    private final Document guide = Document.of(Path.of("../docs/testing.md"));
    private final Carrier carrier = new Carrier();
    private final TestDatabase database;
    private final Millrace millrace;
    private final DSLContext dsl;
    private final Shop shop;
    private final TestKit kit;

    GuideTest(TestDatabase database, Millrace millrace, TestKit kit) {
        this.database = database;
        this.millrace = millrace;
        this.dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES);
        this.shop = new Shop(database.dataSource(), millrace, carrier);
        this.kit = kit.withHandlersOf(shop.worker());
    }

    @Test
    void javaBlocks_areTheTaggedSections() {
        Document shopTest = Document.of(TESTS.resolve("ShopTest.java"));
        Document here = Document.of(TESTS.resolve("GuideTest.java"));
        Document spring = Document.of(SPRING_PROJECT.resolve("src/test/java/com/example/shop/RolledBackTest.java"));
        assertThat(guide.blocks("java"))
                .containsExactly(
                        shopTest.section("test"),
                        here.section("outcome"),
                        here.section("retry"),
                        here.section("killed"),
                        here.section("retention"),
                        spring.section("spring"),
                        here.section("jooq"),
                        here.section("shared"),
                        here.section("plain"));
    }

    @Test
    void xmlBlocks_areInTheSpringBootProject() {
        String project = Document.of(SPRING_PROJECT.resolve("pom.xml")).unindented();
        assertThat(guide.blocks("xml"))
                .isNotEmpty()
                .allSatisfy(block -> assertThat(project).contains(Document.unindented(block)));
    }

    @Test
    void links_leadToFiles() {
        assertThat(guide.links())
                .isNotEmpty()
                .allSatisfy(target -> assertThat(Path.of("../docs", target)).exists());
    }

    @Test
    void quotedMessage_isThatOfTheKit() {
        millrace.submit(SHIP, new Ship(7), SubmitOption.id("ship-7"), SubmitOption.queue("parcels"));
        AssertionError error = catchThrowableOfType(
                AssertionError.class, () -> kit.assertSubmitted(SHIP).withPayload(new Ship(8)));
        assertThat(guide.blocks("text")).containsExactly(error.getMessage() + "\n");
    }

    @Test
    void outcome() {
        // tag::outcome[]
        JobRun run = kit.run(SHIP, new Ship(7));

        run.assertSucceeded(); // if not, the handler's exception is the cause of the error
        run.status(); // as it is in the database now: run.job() is the whole job
        run.thrown(); // what the handler threw, or null
        run.messages(); // the lines that were logged for the job, from run.log()
        run.result(); // what the job left for its callers, or null
        // end::outcome[]
        assertThat(carrier.parcels()).containsExactly(7L);
    }

    @Test
    void retry() {
        carrier.close();
        // tag::retry[]
        JobRun failed = kit.run(SHIP, new Ship(7)).assertQueuedAgain();
        carrier.open();
        kit.timePasses(failed.job(), failed.retryDelay().orElseThrow());
        kit.run(failed.job()).assertSucceeded();
        // end::retry[]
        assertThat(carrier.parcels()).containsExactly(7L);
    }

    @Test
    void killed() {
        Job job = millrace.submit(SHIP, new Ship(7));
        // tag::killed[]
        millrace.queue().claim(AssignedClaim.of("a worker that dies", job.id()));

        kit.timePasses(job, Duration.ofMinutes(2)); // its last heartbeat is older than the timeout now
        assertThat(kit.recoverNow().requeued()).isEqualTo(1);
        kit.timePasses(job, Duration.ofMinutes(10)); // and that was the longest back-off
        kit.run(job).assertSucceeded();
        // end::killed[]
    }

    @Test
    void retention() {
        Job job = kit.run(SHIP, new Ship(7)).job();
        // tag::retention[]
        kit.timePasses(Duration.ofDays(7));
        kit.sweepRetentionNow();
        assertThat(millrace.get(job.id())).isEmpty();
        // end::retention[]
    }

    @Test
    void jooq() {
        int before = shop.orders();
        // tag::jooq[]
        dsl.transaction(tx -> {
            Shop shopInTx = new Shop(tx.dsl(), millrace, carrier);

            shopInTx.place(7);
            kit.in(tx).runAllDue().forEach(JobRun::assertSucceeded);

            assertThat(carrier.parcels()).containsExactly(7L);
            tx.dsl().connection(Connection::rollback);
        });
        // end::jooq[]
        assertThat(shop.orders()).isEqualTo(before);
        kit.assertNothingSubmitted();
    }

    @Test
    void shared() {
        millrace.submit(JobType.of("unknown", JsonText.class), JsonText.of("{}"));
        // tag::shared[]
        TestKit mine = kit.sinceNow().onlyQueues("default", "parcels").leavingOthersAlone();
        // end::shared[]
        assertThat(mine.runAllDue()).isEmpty();
    }

    @Test
    void plain() {
        var dataSource = database.dataSource();
        String schema = millrace.schema();
        // tag::plain[]
        Millrace millrace = Millrace.on(dataSource).withSchema(schema);
        TestKit kit = TestKit.on(millrace)
                .handle(SHIP, (ship, context) -> carrier.take(ship.order()))
                .sinceNow();
        // end::plain[]
        kit.run(SHIP, new Ship(7)).assertSucceeded();
    }
}
