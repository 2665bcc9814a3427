package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.JobType;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.JobConflictException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Jobs in Spring's transactions, by its own data source that takes part in them. */
@MillraceDatabase
class SpringTransactionTest {
    record Order(int number) {}

    private static final JobType<Order> SHIP = JobType.of("ship", Order.class);

    private final TestDatabase database;
    private final Millrace millrace;
    private final TransactionAwareDataSourceProxy aware;
    private final MillraceTransaction inSpring;
    private final TransactionTemplate transaction;
    private final TransactionTemplate another;
    private final JdbcTemplate jdbc;
    private final String orders;

    SpringTransactionTest(TestDatabase database) {
        this.database = database;
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        this.aware = new TransactionAwareDataSourceProxy(database.dataSource());
        this.inSpring = millrace.in(aware);
        var manager = new DataSourceTransactionManager(database.dataSource());
        this.transaction = new TransactionTemplate(manager);
        this.another = new TransactionTemplate(manager);
        another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        this.jdbc = new JdbcTemplate(database.dataSource());
        this.orders = "\"" + database.schema() + "\".spring_orders";
    }

    @BeforeEach
    void table() {
        jdbc.execute("CREATE TABLE IF NOT EXISTS " + orders + " (number int)");
        jdbc.execute("DELETE FROM " + orders);
    }

    private void insertOrder(int number) {
        jdbc.update("INSERT INTO " + orders + " VALUES (?)", number);
    }

    private List<Integer> orders() {
        return jdbc.queryForList("SELECT number FROM " + orders + " ORDER BY number", Integer.class);
    }

    private Claim claimed(Job job) {
        return ((Assignment.Taken) millrace.queue().claim(AssignedClaim.of("w", job.id()))).claim();
    }

    private Job created(MillraceTransaction in) {
        Job job = Job.of(
                UUID.randomUUID().toString(),
                JobSpec.of("ship", JsonText.of("{}")),
                millrace.clock().now());
        in.jobs().create(job);
        in.queue().enqueue(job.id());
        return job;
    }

    /** What one transaction does, and whether it was kept. */
    private record Deeds(Job submitted, List<Job> all, Job created, Job cancelled, Claim finished) {}

    private Deeds everything(Job toCancel, Claim toFinish) {
        insertOrder(1);
        Job submitted = inSpring.submit(SHIP, new Order(1));
        List<Job> all = inSpring.submitAll(SHIP, List.of(new Order(2), new Order(3)));
        Job created = created(inSpring);
        assertThat(inSpring.cancel(toCancel.id(), null, null)).isEqualTo(CancelResult.CANCELLED);
        assertThat(inSpring.finish(toFinish, new Finish.Succeed())).isTrue();
        assertThat(inSpring.get(submitted.id())).isPresent();
        assertThat(millrace.get(submitted.id())).as("for others").isEmpty();
        assertThat(millrace.get(toFinish.job().id()).orElseThrow().status()).isEqualTo(JobStatus.PROVISIONING);
        return new Deeds(submitted, all, created, toCancel, toFinish);
    }

    @Test
    void commit_makesAllOfItVisible() {
        Job toCancel = millrace.submit(SHIP, new Order(8));
        Claim toFinish = claimed(millrace.submit(SHIP, new Order(9)));
        Deeds deeds = transaction.execute(status -> everything(toCancel, toFinish));
        assertThat(orders()).containsExactly(1);
        assertThat(millrace.get(deeds.submitted.id())).isPresent();
        assertThat(deeds.all)
                .allSatisfy(job -> assertThat(millrace.get(job.id())).isPresent());
        claimed(deeds.created);
        assertThat(millrace.get(toCancel.id()).orElseThrow().status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(millrace.get(toFinish.job().id()).orElseThrow().status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void rollback_makesAllOfItGone() {
        Job toCancel = millrace.submit(SHIP, new Order(8));
        Claim toFinish = claimed(millrace.submit(SHIP, new Order(9)));
        Deeds deeds = transaction.execute(status -> {
            status.setRollbackOnly();
            return everything(toCancel, toFinish);
        });
        assertThat(orders()).isEmpty();
        assertThat(millrace.get(deeds.submitted.id())).isEmpty();
        assertThat(deeds.all)
                .allSatisfy(job -> assertThat(millrace.get(job.id())).isEmpty());
        assertThat(millrace.get(deeds.created.id())).isEmpty();
        assertThat(millrace.get(toCancel.id()).orElseThrow().status()).isEqualTo(JobStatus.QUEUED);
        assertThat(millrace.get(toFinish.job().id()).orElseThrow().status()).isEqualTo(JobStatus.PROVISIONING);
    }

    /** Field case A20. */
    @Test
    void refusedJobs_whoseExceptionsAreSwallowed_leaveTheBusinessRow() {
        Job there = millrace.submit(SHIP, new Order(1));
        transaction.executeWithoutResult(status -> {
            insertOrder(1);
            assertThatThrownBy(() -> inSpring.submit(
                            SHIP, new Order(1), SubmitOption.id(there.id()), SubmitOption.priority(Priority.LOW)))
                    .isInstanceOf(JobConflictException.class);
            assertThatThrownBy(() -> inSpring.submit(SHIP, new Order(1), SubmitOption.id("nul\u0000")))
                    .isInstanceOf(InvalidJobException.class);
            insertOrder(2);
        });
        assertThat(orders()).containsExactly(1, 2);
    }

    @Test
    void nestedTransaction_isItsOwn() {
        Job[] jobs = new Job[2];
        transaction.executeWithoutResult(outer -> {
            jobs[0] = inSpring.submit(SHIP, new Order(1));
            another.executeWithoutResult(inner -> {
                jobs[1] = inSpring.submit(SHIP, new Order(2));
                assertThat(inSpring.get(jobs[0].id())).isEmpty();
            });
            assertThat(millrace.get(jobs[1].id())).isPresent();
            assertThat(millrace.get(jobs[0].id())).isEmpty();
            outer.setRollbackOnly();
        });
        assertThat(millrace.get(jobs[0].id())).isEmpty();
        assertThat(millrace.get(jobs[1].id())).isPresent();
    }

    @Test
    void connections_areGivenBack() throws Exception {
        try (var pool = new HikariDataSource()) {
            pool.setDataSource(database.unpooledDataSource());
            pool.setMaximumPoolSize(1);
            var proxy = new TransactionAwareDataSourceProxy(pool);
            var one = new TransactionTemplate(new DataSourceTransactionManager(pool));
            MillraceTransaction in = millrace.in(proxy);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> in.submit(SHIP, new Order(1))).isInstanceOf(IllegalStateException.class);
                Job job = one.execute(status -> in.submit(SHIP, new Order(1)));
                assertThat(millrace.get(job.id())).isPresent();
            }
        }
    }

    @Test
    void operationOutsideOfATransaction_isRefused() {
        assertThatThrownBy(() -> inSpring.submit(SHIP, new Order(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("in no transaction");
    }

    /** Its close would undo what was written, and nobody would notice. */
    @Test
    void ordinaryPoolWithoutAutoCommit_isToldSo() {
        try (var pool = new HikariDataSource()) {
            pool.setDataSource(database.unpooledDataSource());
            pool.setAutoCommit(false);
            pool.setMaximumPoolSize(1);
            MillraceTransaction in = millrace.in(pool);
            assertThatThrownBy(() -> in.submit(SHIP, new Order(1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("TransactionAwareDataSourceProxy");
        }
    }

    /** A mistake of one call says nothing of the transactions that others have. */
    @Test
    void callOutsideOfATransaction_onAPoolWithoutAutoCommit_spoilsNoOther() {
        try (var pool = new HikariDataSource()) {
            pool.setDataSource(database.unpooledDataSource());
            pool.setAutoCommit(false);
            MillraceTransaction in = millrace.in(new TransactionAwareDataSourceProxy(pool));
            var within = new TransactionTemplate(new DataSourceTransactionManager(pool));
            assertThatThrownBy(() -> in.submit(SHIP, new Order(1))).isInstanceOf(IllegalStateException.class);
            Job job = within.execute(status -> in.submit(SHIP, new Order(2)));
            assertThat(millrace.get(job.id())).isPresent();
        }
    }

    /** What has a transaction of its own must not commit the surrounding one. */
    @Test
    void millraceOnSuchADataSource_isRefusedInATransactionThatHasBegun() {
        Millrace wrong = Millrace.on(aware).withSchema(database.schema());
        transaction.executeWithoutResult(status -> {
            insertOrder(1);
            assertThatThrownBy(() -> wrong.submit(SHIP, new Order(1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Millrace.in(..)");
            status.setRollbackOnly();
        });
        assertThat(orders()).isEmpty();
        assertThat(wrong.get(wrong.submit(SHIP, new Order(2)).id())).isPresent();
    }
}
