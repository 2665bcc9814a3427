package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

@MillraceDatabase
class HeartbeatTest {
    private final StoreFixture db;

    HeartbeatTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private List<Attempt> running(int count, String kind) {
        for (int i = 0; i < count; i++) {
            db.submit(kind);
        }
        List<Attempt> attempts = new ArrayList<>();
        for (Claim claim : db.claim(count, kind)) {
            attempts.add(claim.attempt());
            db.age(claim.job().id(), Duration.ofMinutes(1));
        }
        assertThat(attempts).hasSize(count);
        return attempts;
    }

    @Test
    void beat_ofManyMoreThanOneStatementTakes_reachesAll() {
        List<Attempt> attempts = running(2 * Heartbeat.CHUNK + 7, "many");
        Map<Attempt, Pulse> pulses = db.work.beat(attempts);
        assertThat(pulses).hasSize(attempts.size()).containsOnlyKeys(attempts);
        assertThat(pulses.values()).containsOnly(Pulse.HELD);
        assertThat(db.reconcilable.suspects("", 200)).isEmpty();
    }

    @Test
    void beat_changesTheHeartbeatAndNothingElse() {
        Attempt attempt = running(1, "alone").get(0);
        var before = db.dsl.fetchSingle(EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq(attempt.jobId()));
        db.work.beat(List.of(attempt));
        var after = db.dsl.fetchSingle(EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq(attempt.jobId()));
        assertThat(after.getLastHeartbeatAt()).isAfter(before.getLastHeartbeatAt());
        before.setLastHeartbeatAt(after.getLastHeartbeatAt());
        assertThat(after).isEqualTo(before);
    }

    @Test
    void beat_tellsOfARequestToCancel() {
        List<Attempt> attempts = running(2, "cancel");
        db.jobs.cancel(attempts.get(0).jobId(), "ann", null);
        assertThat(db.work.beat(attempts))
                .containsEntry(attempts.get(0), Pulse.CANCELLATION_REQUESTED)
                .containsEntry(attempts.get(1), Pulse.HELD);
    }

    @Test
    void beat_ofLostAttempts_saysSoAndSparesTheOthers() {
        List<Attempt> attempts = running(4, "mixed");
        db.work.finish(claim(attempts.get(0)), new Finish.Succeed());
        db.work.finish(claim(attempts.get(1)), new Finish.HandBack(Duration.ofHours(1), null));
        db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(attempts.get(2).jobId()))
                .execute();
        assertThat(db.work.beat(attempts))
                .containsEntry(attempts.get(0), Pulse.LOST)
                .containsEntry(attempts.get(1), Pulse.LOST)
                .containsEntry(attempts.get(2), Pulse.LOST)
                .containsEntry(attempts.get(3), Pulse.HELD);
    }

    @Test
    void beat_ofTwoAttemptsAtOneJob_answersEachForItself() {
        Attempt old = running(1, "twice").get(0);
        db.work.finish(claim(old), new Finish.HandBack(Duration.ZERO, null));
        Attempt current = db.claimOne("twice").attempt();
        assertThat(db.work.beat(List.of(old, current)))
                .containsEntry(old, Pulse.LOST)
                .containsEntry(current, Pulse.HELD);
    }

    @Test
    void beat_ofNothing_asksNothing() {
        assertThat(db.work.beat(List.of())).isEmpty();
        Attempt unknown = new Attempt("no such job", UUID.randomUUID());
        assertThat(db.work.beat(List.of(unknown))).containsEntry(unknown, Pulse.LOST);
    }

    /** Field case A32: one caller's open transaction costs the other jobs nothing, and its own job is not lost. */
    @Test
    void beat_whileACallerHoldsOneRow_reachesTheOthersWithoutWaiting() throws Exception {
        List<Attempt> attempts = running(50, "held");
        Attempt held = attempts.get(23);
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .update(EXECUTION_JOBS)
                    .set(EXECUTION_JOBS.CURRENT_PHASE, "mine for now")
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(held.jobId()))
                    .execute();
            for (Supplier<Map<Attempt, Pulse>> write : List.<Supplier<Map<Attempt, Pulse>>>of(
                    () -> db.work.beat(attempts), () -> db.work.startAll(attempts))) {
                Map<Attempt, Pulse> pulses = StoreFixture.withoutWaiting(write);
                assertThat(pulses).hasSize(50).containsEntry(held, Pulse.BUSY);
                assertThat(pulses.values().stream().filter(pulse -> pulse == Pulse.HELD))
                        .hasSize(49);
            }
            assertThat(db.reconcilable.suspects("", 100)).isEmpty();
        });
        assertThat(db.work.beat(attempts)).containsEntry(held, Pulse.HELD);
    }

    private Claim claim(Attempt attempt) {
        return new Claim(db.get(attempt.jobId()), attempt.token(), 0);
    }
}
