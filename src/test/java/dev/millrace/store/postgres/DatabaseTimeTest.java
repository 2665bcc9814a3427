package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jooq.Configuration;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Field case A5: the database's time decides, as it is when the row is locked, and a session's time zone changes nothing.
 * That the JVM's clock and zone don't either, the suite shows when it is run with others: see {@code WrongClockTest}.
 */
@MillraceDatabase
class DatabaseTimeTest {
    /** In these days' order: far east, odd minutes, and two with a change of the hour within every half year. */
    private static final List<String> ZONES =
            List.of("Pacific/Apia", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe");

    private static final Map<String, BiConsumer<StoreFixture, Claim>> WRITES = new TreeMap<>();

    static {
        WRITES.put("start", (db, claim) -> db.work.start(claim.attempt()));
        WRITES.put("progress", (db, claim) -> db.work.progress(claim.attempt(), 50.0, "half-way"));
        WRITES.put("succeed", finish(new Finish.Succeed()));
        WRITES.put("fail", finish(new Finish.Fail("broken", Finish.Fail.Reason.HANDLER)));
        WRITES.put("cancelled", finish(new Finish.Cancel()));
        WRITES.put("retry", finish(new Finish.Retry(Duration.ofMillis(1), "boom")));
        WRITES.put("hand back", finish(new Finish.HandBack(Duration.ofMillis(1), null)));
        WRITES.put("cancel", (db, claim) -> db.jobs.cancel(claim.job().id(), "ann", null));
        WRITES.put("compare and set", (db, claim) -> {
            Job read = db.get(claim.job().id());
            Job changed =
                    read.withState(read.state().withNextRetryAt(Instant.EPOCH).withClaimedAt(Instant.EPOCH));
            assertThat(db.jobs.compareAndSet(read, changed, Duration.ofMillis(1)))
                    .isTrue();
        });
    }

    private static final Map<String, BiConsumer<StoreFixture, String>> PLACES = Map.of(
            "enqueue", (db, id) -> db.queue.enqueue(id),
            "requeue", (db, id) -> db.queue.requeue(id, Duration.ofMillis(1)));

    private final StoreFixture db;

    DatabaseTimeTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private static BiConsumer<StoreFixture, Claim> finish(Finish finish) {
        return (db, claim) -> db.work.finish(claim, finish);
    }

    static List<String> writes() {
        return List.copyOf(WRITES.keySet());
    }

    static List<String> places() {
        return List.copyOf(PLACES.keySet());
    }

    /** A heartbeat, a retry or a retention that waited for its row is not older for that. */
    @ParameterizedTest
    @MethodSource("writes")
    void writeThatWaitedForTheRow_hasTheTimesAfterTheWait(String write) throws Exception {
        db.submit(write);
        Claim claim = db.claimOne(write);
        String id = claim.job().id();
        ExecutionJobsRecord before = row(id);
        Instant waited = waiting(id, () -> WRITES.get(write).accept(db, claim));
        assertThat(changedTimes(before, row(id)))
                .isNotEmpty()
                .allSatisfy((column, time) -> assertThat(time).as(column).isAfter(waited));
    }

    @ParameterizedTest
    @MethodSource("places")
    void placeThatWaitedForTheRow_isFromAfterTheWait(String place) throws Exception {
        String id = db.submit(place).id();
        if (place.equals("enqueue")) {
            db.queue.remove(id);
        }
        Instant waited = waiting(id, () -> PLACES.get(place).accept(db, id));
        assertThat(db.column(id, EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isAfter(waited);
    }

    /** Runs this while its row is locked. Returns the time when it waited for the lock. */
    private Instant waiting(String id, Runnable write) throws Exception {
        AtomicReference<CompletableFuture<Void>> waiter = new AtomicReference<>();
        Instant waited = db.dsl.transactionResult(tx -> {
            tx.dsl()
                    .select(EXECUTION_JOBS.OPERATION_ID)
                    .from(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                    .forNoKeyUpdate()
                    .fetch();
            waiter.set(OwnThread.run(write));
            db.awaitLockWaiter();
            return db.now();
        });
        waiter.get().get(30, TimeUnit.SECONDS);
        return waited;
    }

    private ExecutionJobsRecord row(String id) {
        return db.dsl.fetchSingle(EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq(id));
    }

    private static Map<String, Instant> changedTimes(ExecutionJobsRecord before, ExecutionJobsRecord after) {
        Map<String, Instant> times = new TreeMap<>();
        for (Field<?> field : before.fields()) {
            if (after.get(field) instanceof Instant time && !Objects.equals(before.get(field), time)) {
                times.put(field.getName(), time);
            }
        }
        return times;
    }

    @Test
    void jobThatIsWrittenInOneZone_isReadTheSameInEveryOther() {
        for (String zone : ZONES) {
            NewJob plain = StoreFixture.newJob("zones");
            NewJob submitted = plain.withPolicies(plain.policies()
                            .withHeartbeat(new HeartbeatPolicy(Duration.ofHours(20), Duration.ofHours(49)))
                            .withMaxDuration(Duration.ofDays(400)))
                    .withDelay(Duration.ofDays(40));
            String id = submitted.id();
            Job written = inZone(zone, tx -> {
                db.store.in(tx).jobs().submit(submitted);
                return db.store.in(tx).jobs().get(id).orElseThrow();
            });
            ExecutionJobsRecord row = row(id);
            assertThat(db.get(id)).isEqualTo(written);
            for (String other : ZONES) {
                Job job = inZone(other, tx -> db.store.in(tx).jobs().get(id).orElseThrow());
                assertThat(job).as("written in %s, read in %s", zone, other).isEqualTo(written);
                ExecutionJobsRecord columns =
                        inZone(other, tx -> tx.dsl().fetchSingle(EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq(id)));
                assertThat(columns).isEqualTo(row);
            }
            assertThat(Duration.between(written.createdAt(), row.getQueueVisibleAt()))
                    .isEqualTo(Duration.ofDays(40));
        }
    }

    /** A compare-and-set finds the job as it was read, whatever zone it was read in, and writes no time that it carries. */
    @Test
    void changeInAnotherZoneThanThatOfTheRead_isMade_andMovesNoOtherTime() {
        String id = db.running("zones").job().id();
        Job read = inZone(ZONES.get(0), tx -> db.store.in(tx).jobs().get(id).orElseThrow());
        ExecutionJobsRecord before = row(id);
        Job changed = read.withAudit(read.audit().withCorrelationId("c"));
        boolean made = inZone(ZONES.get(1), tx -> db.store.in(tx).jobs().compareAndSet(read, changed));
        assertThat(made).isTrue();
        assertThat(changedTimes(before, row(id))).containsOnlyKeys("updated_at");
    }

    /** A day is 24 hours, also where clocks are put forward or back in the meantime. */
    @Test
    void timesInDays_areNoDaysOfACalendar() {
        for (String zone : ZONES) {
            for (int days : new int[] {91, 182, 273}) {
                NewJob job = StoreFixture.newJob("days");
                NewJob kept = job.withPolicies(job.policies().withRetention(Duration.ofDays(days)))
                        .withDelay(Duration.ofDays(days));
                inZone(zone, tx -> db.store.in(tx).jobs().submit(kept));
                ExecutionJobsRecord row = row(job.id());
                assertThat(Duration.between(row.getCreatedAt(), row.getExpiresAt()))
                        .isEqualTo(Duration.ofDays(days));
                assertThat(Duration.between(row.getCreatedAt(), row.getQueueVisibleAt()))
                        .isEqualTo(Duration.ofDays(days));
            }
        }
    }

    private interface InTransaction<T> {
        T run(Configuration tx);
    }

    private <T> T inZone(String zone, InTransaction<T> statements) {
        return db.dsl.transactionResult(tx -> {
            tx.dsl()
                    .select(DSL.function(
                            DSL.name("pg_catalog", "set_config"),
                            String.class,
                            DSL.inline("TimeZone"),
                            DSL.inline(zone),
                            DSL.inline(true)))
                    .fetch();
            return statements.run(tx);
        });
    }
}
