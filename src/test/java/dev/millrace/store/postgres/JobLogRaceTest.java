package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.LogLine;
import dev.millrace.store.LogPage;
import dev.millrace.store.LogSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/** Many callers append to one log at once: invariant 7, field cases A4 and A25. */
@MillraceDatabase
@Timeout(240)
@TestInstance(Lifecycle.PER_CLASS)
class JobLogRaceTest {
    private static final int THREADS = 50;

    private final StoreFixture db;
    private final JobLogStore logs;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    JobLogRaceTest(TestDatabase database) {
        this.db = new StoreFixture(database);
        this.logs = db.store.logs();
    }

    @AfterAll
    void end() {
        threads.shutdownNow();
    }

    private <T> List<T> together(List<Callable<T>> calls) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(calls.size());
        List<Future<T>> futures = new ArrayList<>();
        for (Callable<T> call : calls) {
            futures.add(threads.submit(() -> {
                barrier.await(60, TimeUnit.SECONDS);
                return call.call();
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get());
        }
        return results;
    }

    private List<LogLine> all(String id) {
        List<LogLine> lines = new ArrayList<>();
        LogPage page = logs.page(id, null, 500);
        while (!page.lines().isEmpty()) {
            lines.addAll(page.lines());
            page = logs.page(id, page.next(), 500);
        }
        return lines;
    }

    private static LogEntry line(int attempt, int writer, int number) {
        // The same text from all writers: repeated text is no repetition.
        return LogEntry.of(attempt, Level.INFO, "step " + number)
                .withFields(Map.of("writer", String.valueOf(writer)))
                .withEventId(attempt + "/" + writer + "/" + number);
    }

    /**
     * Fifty writers, in lumps and line by line, each call delivered two or three times; in the middle of it the attempt is
     * handed back and the job claimed again, and writers of both attempts go on.
     */
    @Test
    void append_ofManyAtOnce_replayed_acrossARetry_hasEachLineOnceInTheOrderOfItsWriter() throws Exception {
        long seed = new Random().nextLong();
        Claim first = db.running("log-race");
        String id = first.job().id();
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int writer = 0; writer < THREADS; writer++) {
            int me = writer;
            Random random = new Random(seed + writer);
            calls.add(() -> {
                if (me == 7) {
                    db.work.finish(first, new Finish.HandBack(Duration.ZERO, null));
                    assertThat(db.claimOne("log-race").job().state().attemptCount())
                            .isEqualTo(2);
                }
                return write(id, 1 + me % 2, me, random);
            });
        }

        int fresh = together(calls).stream().mapToInt(Integer::intValue).sum();

        List<LogLine> lines = all(id);
        assertThat(fresh).as("seed %d", seed).isEqualTo(THREADS * 12);
        assertThat(lines)
                .extracting(LogLine::sequence)
                .isEqualTo(LongStream.range(0, THREADS * 12).boxed().toList());
        assertThat(lines).extracting(LogLine::at).isSortedAccordingTo(Instant::compareTo);
        Map<String, List<LogLine>> byWriter = lines.stream()
                .collect(Collectors.groupingBy(line -> line.fields().get("writer")));
        assertThat(byWriter).hasSize(THREADS);
        byWriter.forEach((writer, its) -> {
            int number = Integer.parseInt(writer);
            assertThat(its)
                    .as("seed %d, writer %s", seed, writer)
                    .extracting(LogLine::message)
                    .isEqualTo(IntStream.range(0, 12).mapToObj(i -> "step " + i).toList());
            assertThat(its).extracting(LogLine::attempt).containsOnly(1 + number % 2);
        });
        LogPage tail = logs.tail(id, 1);
        assertThat(tail.appended()).isEqualTo(THREADS * 12);
        assertThat(tail.dropped()).isZero();
    }

    private int write(String id, int attempt, int writer, Random random) {
        int fresh = 0;
        int number = 0;
        while (number < 12) {
            int size = Math.min(12 - number, 1 + random.nextInt(4));
            List<LogEntry> entries = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                entries.add(line(attempt, writer, number + i));
            }
            for (int delivery = 1 + random.nextInt(3); delivery > 0; delivery--) {
                fresh += logs.append(id, entries);
            }
            number += size;
        }
        return fresh;
    }

    /** The same calls from several at once, the first lines of a log among them, in any order of ids. */
    @Test
    void append_ofTheSameEventsByAll_hasEachOnce() throws Exception {
        long seed = new Random().nextLong();
        for (int round = 0; round < 10; round++) {
            String id = StoreFixture.newId();
            List<Callable<Integer>> calls = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                List<LogEntry> entries = new ArrayList<>();
                for (int number = 0; number < 8; number++) {
                    entries.add(line(1, 0, number));
                }
                Collections.shuffle(entries, new Random(seed + i));
                calls.add(() -> logs.append(id, entries));
            }

            List<Integer> fresh = together(calls);

            assertThat(fresh).as("seed %d", seed).containsOnlyOnce(8).containsOnly(0, 8);
            assertThat(all(id)).as("seed %d", seed).hasSize(8);
            assertThat(db.dsl.fetchCount(
                            EXECUTION_JOB_LOG_STREAMS,
                            EXECUTION_JOB_LOG_STREAMS.OPERATION_ID.eq(id),
                            EXECUTION_JOB_LOG_STREAMS.EVENT_IDENTITY_COUNT.eq(8)))
                    .isEqualTo(1);
        }
    }

    /** What a call trims it doesn't see all of while others append; what is read is right all the same. */
    @Test
    void append_ofManyAtOnce_beyondTheBound_showsTheNewestOnly() throws Exception {
        JobLogStore few = db.store.logs(LogSettings.DEFAULT.withMaxLogEntries(10));
        String id = StoreFixture.newId();
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int writer = 0; writer < THREADS; writer++) {
            int me = writer;
            calls.add(() -> {
                for (int number = 0; number < 6; number++) {
                    few.append(id, List.of(line(1, me, number)));
                }
                return 0;
            });
        }
        together(calls);

        LogPage page = few.page(id, null, 500);
        assertThat(page.appended()).isEqualTo(300);
        assertThat(page.dropped()).isEqualTo(290);
        assertThat(page.lines())
                .extracting(LogLine::sequence)
                .isEqualTo(LongStream.range(290, 300).boxed().toList());
        few.append(id, List.of(line(2, 0, 0)));
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_ENTRIES, EXECUTION_JOB_LOG_ENTRIES.OPERATION_ID.eq(id)))
                .isEqualTo(10);
    }

    /** Nor does what those left behind, who had waited for others, and so did not see what these had written. */
    @Test
    void append_ofManyLinesAtOnce_leavesNoneBehindThatWereDropped() throws Exception {
        JobLogStore few = db.store.logs(LogSettings.DEFAULT.withMaxLogEntries(100));
        String id = StoreFixture.newId();
        few.append(id, List.of(line(1, 0, 0)));
        List<Future<Integer>> calls = new ArrayList<>();
        db.dsl.transaction(tx -> {
            db.store.in(tx).logs().append(id, List.of(line(1, 0, 1)));
            for (int writer = 1; writer <= 5; writer++) {
                int me = writer;
                List<LogEntry> entries = IntStream.range(0, JobLogStore.MAX_BATCH)
                        .mapToObj(number -> line(1, me, number))
                        .toList();
                calls.add(threads.submit(() -> few.append(id, entries)));
            }
            db.awaitLockWaiters(5);
        });
        for (Future<Integer> call : calls) {
            assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(JobLogStore.MAX_BATCH);
        }

        assertThat(few.tail(id, 1).dropped()).isEqualTo(4_902);
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_ENTRIES, EXECUTION_JOB_LOG_ENTRIES.OPERATION_ID.eq(id)))
                .isEqualTo(100);
    }

    /** A reader sees counts and lines of one moment. */
    @Test
    void read_whileOthersAppend_isOfOneMoment() throws Exception {
        JobLogStore few = db.store.logs(LogSettings.DEFAULT.withMaxLogEntries(20));
        String id = StoreFixture.newId();
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int writer = 0; writer < 4; writer++) {
            int me = writer;
            calls.add(() -> {
                for (int number = 0; number < 100; number++) {
                    few.append(id, List.of(line(1, me, number), line(2, me, number)));
                }
                return 0;
            });
        }
        calls.add(() -> {
            long appended = 0;
            while (appended < 800) {
                LogPage page = few.tail(id, 500);
                assertThat(page.lines()).hasSize((int) (page.appended() - page.dropped()));
                appended = page.appended();
            }
            return 0;
        });
        together(calls);
    }

    /** Field case A5: an expiry and a time that waited for the row are of when it was got. */
    @Test
    void append_thatWaited_takesItsTimesAndItsSequenceWhenItGetsTheLog() throws Exception {
        String id = StoreFixture.newId();
        logs.append(id, List.of(line(1, 0, 0)));
        JobLogStore brief = db.store.logs(LogSettings.DEFAULT.withLogRetention(Duration.ofDays(8)));
        AtomicReference<Future<Integer>> waiting = new AtomicReference<>();
        Instant released = db.dsl.transactionResult(tx -> {
            db.store.in(tx).logs().append(id, List.of(line(1, 0, 1), line(1, 0, 2)));
            waiting.set(threads.submit(() -> brief.append(id, List.of(line(1, 0, 2), line(1, 0, 3)))));
            db.awaitLockWaiter();
            return db.now();
        });
        assertThat(waiting.get().get(30, TimeUnit.SECONDS)).isEqualTo(1);

        List<LogLine> lines = all(id);
        assertThat(lines).extracting(LogLine::message).containsExactly("step 0", "step 1", "step 2", "step 3");
        assertThat(lines.get(3).at()).isAfterOrEqualTo(released);
        assertThat(db.dsl
                        .select(EXECUTION_JOB_LOG_STREAMS.EXPIRES_AT)
                        .from(EXECUTION_JOB_LOG_STREAMS)
                        .where(EXECUTION_JOB_LOG_STREAMS.OPERATION_ID.eq(id))
                        .fetchSingle()
                        .value1())
                .isAfterOrEqualTo(released.plus(Duration.ofDays(8)));
    }

    /** Whoever waits for a log holds no event id that the one that has it may want next. */
    @Test
    void append_twiceInACallersTransaction_doesNotDeadlockWithOthers() throws Exception {
        String id = StoreFixture.newId();
        logs.append(id, List.of(line(1, 0, 0)));
        AtomicReference<Future<Integer>> other = new AtomicReference<>();
        int fresh = db.dsl.transactionResult(tx -> {
            JobLogStore mine = db.store.in(tx).logs();
            mine.append(id, List.of(line(1, 0, 1)));
            other.set(threads.submit(() -> logs.append(id, List.of(line(1, 0, 2), line(1, 0, 3)))));
            db.awaitLockWaiter();
            return mine.append(id, List.of(line(1, 0, 3), line(1, 0, 4)));
        });

        assertThat(fresh).isEqualTo(2);
        assertThat(other.get().get(30, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(all(id)).hasSize(5);
    }
}
