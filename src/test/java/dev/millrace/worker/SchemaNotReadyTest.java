package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.store.MissingPrivilegeException;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.SchemaNotReadyException.Reason;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** A worker whose schema isn't there yet, or has become one that it is too old for. */
@Isolated("reads what is logged")
@Timeout(60)
class SchemaNotReadyTest {
    private static final Fault NOT_READY = refusal("schema \"millrace\" is not there");

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    private static Fault refusal(String message) {
        return Fault.failing(() -> new SchemaNotReadyException("millrace", Reason.MISSING, message, null, false));
    }

    @BeforeEach
    void readLog() {
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void close() {
        fixture.close();
        System.setErr(before);
    }

    private List<String> logged() {
        return log.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void worker_saysOnceThatTheSchemaIsNotReady_andWorksWhenItIs() {
        String id = source.submit("work");
        source.always(Op.CLAIM, NOT_READY);
        Worker worker = fixture.start((payload, context) -> {});
        until(() -> source.calls(Op.CLAIM) >= 4);
        assertThat(worker.status().claiming()).isEqualTo(Claiming.STORE_FAILS);
        source.heal(Op.CLAIM);
        until(() -> source.endings(id).size() == 1);
        assertThat(logged())
                .singleElement()
                .asString()
                .contains("ERROR", "No jobs are claimed until the schema is ready. schema \"millrace\" is not there");
    }

    @Test
    void worker_thatLacksAPrivilege_saysSoOnce() {
        source.always(
                Op.CLAIM,
                Fault.failing(() ->
                        new MissingPrivilegeException("reader", List.of(), "Can't claim jobs: ask", null, false)));
        fixture.start((payload, context) -> {});
        until(() -> source.calls(Op.CLAIM) >= 4);
        assertThat(logged())
                .singleElement()
                .asString()
                .contains("ERROR", "No jobs are claimed until that is granted. Can't claim jobs: ask");
    }

    @Test
    void worker_saysItAgain_whenTheReasonIsAnotherOne() {
        source.next(Op.CLAIM, NOT_READY, NOT_READY, refusal("it is too new"), refusal("it is too new"));
        fixture.start((payload, context) -> {});
        until(() -> source.calls(Op.CLAIM) >= 5);
        assertThat(logged()).hasSize(2);
        assertThat(logged().get(1)).contains("it is too new");
    }

    /** Neither its beats nor its outcomes are taken, and its handlers go on. */
    @Test
    void runningJobs_ofAWorkerThatIsRefused_goOn_andEachThingIsSaidOnce() throws InterruptedException {
        CountDownLatch gate = fixture.gate();
        CountDownLatch began = new CountDownLatch(1);
        String id = source.submit("work", BRISK);
        fixture.start((payload, context) -> {
            began.countDown();
            gate.await();
        });
        WorkerFixture.await(began);
        source.always(Op.BEAT, NOT_READY);
        source.always(Op.FINISH, NOT_READY);
        int beats = source.calls(Op.BEAT);
        until(() -> source.calls(Op.BEAT) >= beats + 5);
        gate.countDown();
        until(() -> source.calls(Op.FINISH) >= 3);
        assertThat(source.endings(id)).isEmpty();
        assertThat(logged()).hasSize(2);
        assertThat(logged().get(0)).contains("WARN", "Beating for 1 jobs failed", "is not there");
        assertThat(logged().get(1)).contains("WARN", "is not written yet", "is not there");
        source.up();
        until(() -> source.endings(id).size() == 1);
    }
}
