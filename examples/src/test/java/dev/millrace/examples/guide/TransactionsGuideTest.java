package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.Millrace;
import dev.millrace.MillraceTransaction;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.CancelResult;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.JobHandler;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The chapters about submitting, and about completing a job, in a transaction of one's own. */
@MillraceTest
class TransactionsGuideTest {
    private static Orders orders;
    private static Orders invoices;

    private final DataSource dataSource;
    private final DSLContext dsl;
    private final Millrace millrace;

    TransactionsGuideTest(TestDatabase database, Millrace millrace) {
        this.dataSource = database.dataSource();
        this.dsl = DSL.using(dataSource, SQLDialect.POSTGRES);
        this.millrace = millrace;
    }

    @BeforeAll
    static void tables(TestDatabase database) {
        DSLContext dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES);
        orders = Orders.create(dsl, database.schema(), "orders");
        invoices = Orders.create(dsl, database.schema(), "invoices");
    }

    // tag::jooq[]
    void place(long order) {
        dsl.transaction(tx -> {
            orders.insert(tx.dsl(), order);
            millrace.in(tx).submit(INVOICE, new Invoice(order), id("invoice-" + order));
        });
    }
    // end::jooq[]

    // tag::jdbc[]
    void placeByJdbc(long order) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            orders.insert(connection, order);
            millrace.in(connection).submit(INVOICE, new Invoice(order), id("invoice-" + order));
            connection.commit();
        }
    }
    // end::jdbc[]

    private boolean bothAreThere(long order) {
        boolean job = millrace.get("invoice-" + order).isPresent();
        assertThat(orders.exists(dsl, order)).isEqualTo(job);
        return job;
    }

    @Test
    void jobOfATransaction_isThereWithItsRow_orNotAtAll() throws SQLException {
        place(1);
        placeByJdbc(2);
        assertThat(bothAreThere(1)).isTrue();
        assertThat(bothAreThere(2)).isTrue();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> dsl.transaction(tx -> {
                    orders.insert(tx.dsl(), 3);
                    millrace.in(tx).submit(INVOICE, new Invoice(3), id("invoice-3"));
                    throw new IllegalStateException("not paid");
                }));
        assertThat(bothAreThere(3)).isFalse();
    }

    @Test
    void connectionInAutoCommit_isRefused() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            MillraceTransaction none = millrace.in(connection);
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> none.submit(MAIL, new Mail("anna@example.com", "Welcome")));
        }
    }

    @Test
    void cancellation_inATransaction_goesWithIt() {
        place(4);
        // tag::cancel-in[]
        dsl.transaction(tx -> {
            CancelResult result = millrace.in(tx).cancel("invoice-4", "anna", "The order was cancelled");
            assertThat(result).isEqualTo(CancelResult.CANCELLED);
            tx.dsl().connection(Connection::rollback);
        });
        assertThat(millrace.get("invoice-4").orElseThrow().status()).isEqualTo(JobStatus.QUEUED);
        // end::cancel-in[]
    }

    // tag::complete[]
    void print(Invoice invoice, JobContext context) {
        dsl.transaction(tx -> {
            invoices.insert(tx.dsl(), invoice.order());
            millrace.in(tx).submit(MAIL, new Mail("anna@example.com", "Invoice " + invoice.order()));
            millrace.in(tx).complete(context);
        });
    }
    // end::complete[]

    private Job run(long order, JobHandler<Invoice> handler) throws InterruptedException {
        Job job = millrace.submit(
                INVOICE, new Invoice(order), id("invoice-" + order), retry(RetryPolicy.fixed(2, Duration.ZERO)));
        try (Worker worker = millrace.worker()
                .pollInterval(Duration.ofMillis(20))
                .handle(INVOICE, handler)
                .start()) {
            assertThat(worker.status().alive()).isTrue();
            return millrace.await(job, Duration.ofSeconds(30));
        }
    }

    @Test
    void handlersWork_andItsJobsSuccess_areCommittedTogether() throws InterruptedException {
        assertThat(run(10, this::print).status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(invoices.exists(dsl, 10)).isTrue();
    }

    @Test
    void handlersTransaction_thatIsRolledBack_isAFailedAttempt() throws InterruptedException {
        Job job = run(
                11,
                (invoice, context) -> dsl.transaction(tx -> {
                    invoices.insert(tx.dsl(), 11);
                    millrace.in(tx).complete(context);
                    throw new IllegalStateException("out of paper");
                }));
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.outcome().history()).hasSize(2);
        assertThat(invoices.exists(dsl, 11)).isFalse();
    }

    @Test
    void handlerThatThrows_afterItsCommit_hasSucceeded() throws InterruptedException {
        Job job = run(12, (invoice, context) -> {
            print(invoice, context);
            throw new IllegalStateException("too late");
        });
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void completedContext_takesNoMoreWarnings() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Job job = run(13, (invoice, context) -> {
            print(invoice, context);
            try {
                context.warn("The toner is low");
            } catch (IllegalStateException e) {
                thrown.set(e);
            }
        });
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(thrown.get()).isInstanceOf(IllegalStateException.class);
    }
}
