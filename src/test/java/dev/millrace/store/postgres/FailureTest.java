package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.JobReferences;
import dev.millrace.job.NewJob;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.JsonText;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What callers are told when the database can't, and that nothing was written. */
@MillraceDatabase
class FailureTest {
    private final StoreFixture db;

    FailureTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @Test
    void unknownSchema_isNamedWithWhatToDo() {
        PostgresStore elsewhere = PostgresStore.on(db.database.dataSource(), "nowhere");
        assertThatThrownBy(() -> elsewhere.jobs().submit(StoreFixture.newJob("k")))
                .isInstanceOfSatisfying(SchemaNotReadyException.class, e -> {
                    assertThat(e.schema()).isEqualTo("nowhere");
                    assertThat(e).hasMessageContaining("\"nowhere\"").hasMessageContaining("migrate()");
                });
    }

    @Test
    void unreachableServer_isUnavailableAndSaysWhatToCheck() throws IOException {
        PGSimpleDataSource unreachable = new PGSimpleDataSource();
        try (ServerSocket socket = new ServerSocket(0)) {
            unreachable.setPortNumbers(new int[] {socket.getLocalPort()});
        }
        PostgresStore store = PostgresStore.on(unreachable, "millrace");
        assertThatThrownBy(() -> store.jobs().get("x"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("read job")
                .hasMessageContaining("Check that the server runs");
    }

    /** Pools have their own ideas of what to throw; that there is no connection is what counts. */
    @ParameterizedTest
    @MethodSource("poolFailures")
    void poolWithoutAConnection_isUnavailableWhateverItThrows(Exception failure) {
        PGSimpleDataSource pool = new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                if (failure instanceof SQLException sql) {
                    throw sql;
                }
                throw (RuntimeException) failure;
            }
        };
        PostgresStore store = PostgresStore.on(pool, "millrace");
        assertThatThrownBy(() -> store.jobs().get("x"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(failure.getMessage());
    }

    static List<Exception> poolFailures() {
        return List.of(new SQLException("pool exhausted"), new IllegalStateException("no target data source"));
    }

    /** PgBouncer lets a client stay connected while the server is away, and refuses its statements, all in one state. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "FATAL: server login has been failing, try again later (server_login_retry)",
                "FATAL: query_wait_timeout",
                "FATAL: server conn crashed?"
            })
    void poolerWithoutAServer_isUnavailable(String refusal) {
        PGSimpleDataSource pooler = new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                Connection real = db.database.unpooledDataSource().getConnection();
                return (Connection) Proxy.newProxyInstance(
                        FailureTest.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, args) -> {
                            if (method.getName().equals("prepareStatement")) {
                                throw new SQLException(refusal, "08P01");
                            }
                            return method.invoke(real, args);
                        });
            }
        };
        PostgresStore store = PostgresStore.on(pooler, db.database.schema());
        assertThatThrownBy(() -> store.jobs().get("x"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(refusal);
    }

    @Test
    void readOnlyServer_isUnavailable() throws Exception {
        try (Connection connection = db.database.unpooledDataSource().getConnection()) {
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> db.store.in(connection).jobs().submit(StoreFixture.newJob("k")))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void tooLargeRecord_isRefusedBeforeAnySql() {
        NewJob job = NewJob.of(StoreFixture.newId(), "k", JsonText.of("{\"x\":\"" + "\u20ac".repeat(400_000) + "\"}"));
        assertThatThrownBy(() -> db.jobs.submit(job)).isInstanceOfSatisfying(InvalidJobException.class, e -> {
            assertThat(e.field()).isEqualTo("record");
            assertThat(e.found()).contains("bytes");
        });
        assertThat(db.jobs.get(job.id())).isEmpty();
    }

    /** Field case A12: what an index row can't hold is refused, and the largest that is allowed fits. */
    @Test
    void largestIdsAndKeys_fitTheIndexes() {
        JobReferences references = JobReferences.NONE
                .withServer(incompressible(512))
                .withResources(Collections.nCopies(1, incompressible(512)));
        NewJob job = StoreFixture.newJob(incompressible(32)).withId(incompressible(512));
        job = job.withSpec(job.spec()
                        .withQueue(incompressible(32))
                        .withRuntimeProfile(incompressible(32))
                        .withReferences(references))
                .withAudit(job.audit().withTenantId(incompressible(128)).withRequestedBy(incompressible(512)));
        NewJob largest = job;
        db.submit(largest);
        assertThat(db.work.claim(ClaimRequest.of(
                        "w",
                        List.of(new ClaimRequest.Source(
                                largest.spec().runtimeProfile(), largest.spec().queue())),
                        List.of(largest.spec().kind()),
                        1)))
                .hasSize(1);

        // U+0390 is two bytes, and six in upper case.
        NewJob growing = StoreFixture.newJob("k")
                .withId(StoreFixture.newId())
                .withSpec(StoreFixture.newJob("k")
                        .spec()
                        .withReferences(JobReferences.NONE.withServer("\u0390".repeat(512))));
        assertThatThrownBy(() -> db.jobs.submit(growing))
                .isInstanceOfSatisfying(
                        InvalidJobException.class, e -> assertThat(e.field()).isEqualTo("server"));
        assertThat(db.jobs.get(growing.id())).isEmpty();
    }

    /** Four bytes a character, none like its neighbours. */
    private static String incompressible(int characters) {
        StringBuilder text = new StringBuilder();
        java.util.Random random = new java.util.Random(characters);
        for (int i = 0; i < characters; i++) {
            text.appendCodePoint(0x20000 + random.nextInt(0xA000));
        }
        return text.toString();
    }

    @Test
    void badArguments_areRefusedBeforeAnySql() {
        assertThatThrownBy(() -> ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(), 0))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("limit");
        assertThatThrownBy(() -> ClaimRequest.of("w", List.of(), List.of(), 1)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> ClaimRequest.of("", StoreFixture.DEFAULT_SOURCE, List.of(), 1))
                .isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.queue.repair(Duration.ZERO, 0)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.reconcilable.suspects("", 0)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> new Finish.Retry(Duration.ofSeconds(-1), "x")).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.jobs.cancel("x", "a\u0000", null)).isInstanceOf(InvalidJobException.class);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq("x")))
                .isZero();
    }

    /** Ids that no job can have are no jobs: an answer rather than an error of the driver's. */
    @Test
    void idsThatNoJobCanHave_areRefusedLikeOthers() {
        for (String id : List.of("", "x\u0000", "\ud800", "x".repeat(513))) {
            assertThatThrownBy(() -> db.jobs.get(id)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> db.jobs.cancel(id, null, null)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> db.queue.enqueue(id)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> db.queue.remove(id)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> db.queue.requeue(id, Duration.ZERO)).isInstanceOf(InvalidJobException.class);
        }
    }
}
