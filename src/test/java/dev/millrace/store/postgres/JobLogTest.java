package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_EVENT_IDENTITIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.LogEventLimitException;
import dev.millrace.store.LogLine;
import dev.millrace.store.LogPage;
import dev.millrace.store.LogSettings;
import dev.millrace.types.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The logs of jobs, one caller at a time. */
@MillraceDatabase
class JobLogTest {
    private final StoreFixture db;
    private final JobLogStore logs;

    /** Keeps five lines. */
    private final JobLogStore few;

    JobLogTest(TestDatabase database) {
        this.db = new StoreFixture(database);
        this.logs = db.store.logs();
        this.few = db.store.logs(LogSettings.DEFAULT.withMaxLogEntries(5));
    }

    @BeforeEach
    void empty() {
        db.dsl.deleteFrom(EXECUTION_JOB_LOG_STREAMS).execute();
    }

    private static LogEntry line(String message) {
        return LogEntry.of(1, Level.INFO, message);
    }

    private static List<LogEntry> events(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> line("line " + i).withEventId("event-" + i))
                .toList();
    }

    private static List<String> messages(LogPage page) {
        return page.lines().stream().map(LogLine::message).toList();
    }

    private int entries(String id) {
        return db.dsl.fetchCount(EXECUTION_JOB_LOG_ENTRIES, EXECUTION_JOB_LOG_ENTRIES.OPERATION_ID.eq(id));
    }

    private int identities(String id) {
        return db.dsl.fetchCount(
                EXECUTION_JOB_LOG_EVENT_IDENTITIES, EXECUTION_JOB_LOG_EVENT_IDENTITIES.OPERATION_ID.eq(id));
    }

    private Instant expiry(String id) {
        return db.dsl
                .select(EXECUTION_JOB_LOG_STREAMS.EXPIRES_AT)
                .from(EXECUTION_JOB_LOG_STREAMS)
                .where(EXECUTION_JOB_LOG_STREAMS.OPERATION_ID.eq(id))
                .fetchSingle()
                .value1();
    }

    @Test
    void append_isReadBackAsItWasGiven_inTheDatabasesTime() {
        LogEntry entry = new LogEntry(3, Level.WARN, "a \"b\"\\\n\tc", Map.of("host", "n\"1"), "e-1");
        Instant before = db.now();

        assertThat(logs.append("a", List.of(entry, line("")))).isEqualTo(2);

        LogPage page = logs.tail("a", 10);
        LogLine first = page.lines().get(0);
        assertThat(first)
                .isEqualTo(new LogLine(0, first.at(), 3, Level.WARN, "a \"b\"\\\n\tc", Map.of("host", "n\"1"), false));
        assertThat(first.at()).isBetween(before, db.now());
        assertThat(page.lines().get(1).message()).isEmpty();
        assertThat(page.lines().get(1).sequence()).isEqualTo(1);
        assertThat(page.appended()).isEqualTo(2);
        assertThat(page.dropped()).isZero();
    }

    @Test
    void append_severalTimes_numbersFromZeroWithoutGaps() {
        for (int i = 0; i < 3; i++) {
            logs.append("a", List.of(line("x" + i), line("y" + i)));
            logs.append("b", List.of(line("other")));
        }

        assertThat(logs.tail("a", 100).lines()).extracting(LogLine::sequence).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(messages(logs.tail("a", 100))).containsExactly("x0", "y0", "x1", "y1", "x2", "y2");
        assertThat(logs.tail("b", 100).appended()).isEqualTo(3);
    }

    @Test
    void append_ofNothing_makesNoLog() {
        assertThat(logs.append("a", List.of())).isZero();
        assertThat(logs.setRetention("a", Duration.ZERO)).isFalse();
    }

    /** Invariant 7. */
    @Test
    void append_ofAKnownEvent_isLeftOut_andTheOthersOfItsCallAreNot() {
        assertThat(logs.append("a", events(0, 3))).isEqualTo(3);
        assertThat(logs.append("a", events(0, 3))).isZero();

        List<LogEntry> mixed = new ArrayList<>(events(2, 5));
        mixed.add(1, line("line 1"));
        assertThat(logs.append("a", mixed)).isEqualTo(3);

        assertThat(messages(logs.tail("a", 100)))
                .containsExactly("line 0", "line 1", "line 2", "line 1", "line 3", "line 4");
        assertThat(logs.tail("a", 100).appended()).isEqualTo(6);
        assertThat(identities("a")).isEqualTo(5);
    }

    @Test
    void append_ofOneEventTwiceInOneCall_takesTheFirst() {
        assertThat(logs.append(
                        "a", List.of(line("x").withEventId("e"), line("y").withEventId("e"))))
                .isEqualTo(1);
        assertThat(messages(logs.tail("a", 100))).containsExactly("x");
    }

    /** The same text is no repetition. */
    @Test
    void append_ofTheSameTextAgain_keepsBoth() {
        logs.append("a", List.of(line("x"), line("x").withEventId("1")));
        logs.append("a", List.of(line("x"), line("x").withEventId("2")));

        assertThat(messages(logs.tail("a", 100))).containsExactly("x", "x", "x", "x");
    }

    @Test
    void append_beyondTheBound_keepsTheNewestAndCountsTheDropped() {
        for (int i = 0; i < 12; i++) {
            few.append("a", events(i, i + 1));
        }

        LogPage page = few.tail("a", 100);
        assertThat(page.lines()).extracting(LogLine::sequence).containsExactly(7L, 8L, 9L, 10L, 11L);
        assertThat(page.appended()).isEqualTo(12);
        assertThat(page.dropped()).isEqualTo(7);
        assertThat(entries("a")).isEqualTo(5);
        assertThat(few.append("a", events(0, 12))).as("events of dropped lines").isZero();
    }

    @Test
    void append_ofMoreAtOnceThanAreKept_keepsTheLastOfThem() {
        few.append("a", List.of(line("first")));
        assertThat(few.append("a", events(0, 9))).isEqualTo(9);

        assertThat(messages(few.tail("a", 100))).containsExactly("line 4", "line 5", "line 6", "line 7", "line 8");
        assertThat(few.tail("a", 100).dropped()).isEqualTo(5);
        assertThat(entries("a")).isEqualTo(5);
    }

    @Test
    void append_underASmallerBoundThanBefore_dropsWhatIsTooMuch_andUnderALargerOneNothingComesBack() {
        logs.append("a", events(0, 20));
        few.append("a", events(20, 21));
        assertThat(entries("a")).isEqualTo(5);
        logs.append("a", events(21, 22));

        assertThat(logs.tail("a", 100).dropped()).isEqualTo(16);
        assertThat(logs.tail("a", 100).lines()).hasSize(6);
    }

    @Test
    void append_ofTooManyEventIds_isATypedError_andAppendsNothing() {
        for (int i = 0; i < LogEventLimitException.MAX_EVENT_IDS; i += 1_000) {
            logs.append("a", events(i, Math.min(i + 1_000, LogEventLimitException.MAX_EVENT_IDS)));
        }
        assertThat(identities("a")).isEqualTo(8_192);

        assertThatThrownBy(() -> logs.append("a", List.of(line("x"), line("y").withEventId("one more"))))
                .isInstanceOfSatisfying(
                        LogEventLimitException.class, e -> assertThat(e.jobId()).isEqualTo("a"))
                .hasMessageContaining("8192")
                .hasMessageContaining("without event ids");
        assertThat(logs.append("a", events(0, 10))).isZero();
        assertThat(logs.append("a", List.of(line("z")))).isEqualTo(1);
        assertThat(logs.tail("a", 1).appended()).isEqualTo(8_193);
    }

    @Test
    void append_ofTheLargestIds_fitsIntoTheIndex() {
        String id = "\uD83D\uDE00".repeat(512);
        assertThat(logs.append(id, List.of(line("x").withEventId("\uD83D\uDE01".repeat(160)))))
                .isEqualTo(1);
        assertThat(logs.tail(id, 1).lines()).hasSize(1);
    }

    @Test
    void append_movesTheExpiry_butNotForEachLine_andNeverBack() {
        logs.append("a", List.of(line("x")));
        Instant first = expiry("a");
        assertThat(first).isBetween(db.now().plus(Duration.ofDays(7)), db.now().plus(Duration.ofDays(8)));
        logs.append("a", List.of(line("y")));
        assertThat(expiry("a")).isEqualTo(first);

        logs.setRetention("a", Duration.ofHours(1));
        assertThat(expiry("a"))
                .isBetween(db.now().plus(Duration.ofMinutes(59)), db.now().plus(Duration.ofHours(1)));
        logs.append("a", List.of(line("late")));
        assertThat(expiry("a")).isAfter(db.now().plus(Duration.ofDays(7)));

        logs.setRetention("a", Duration.ofDays(30));
        logs.append("a", List.of(line("late")));
        assertThat(expiry("a")).isAfter(db.now().plus(Duration.ofDays(29)));
    }

    @Test
    void append_inACallersTransaction_isThereIfThatCommits() {
        db.undone(tx -> {
            db.store.in(tx).logs().append("a", events(0, 3));
            db.store.in(tx).logs().append("a", events(2, 4));
            assertThat(db.store.in(tx).logs().tail("a", 10).lines()).hasSize(4);
        });
        assertThat(logs.tail("a", 10).lines()).isEmpty();
        assertThat(identities("a")).isZero();

        db.dsl.transaction(tx -> db.store.in(tx).logs().append("a", events(0, 3)));
        assertThat(logs.append("a", events(0, 3))).isZero();
    }

    @Test
    void badInput_isRefusedBeforeAnySql() {
        List<LogEntry> tooMany = java.util.Collections.nCopies(JobLogStore.MAX_BATCH + 1, line("x"));
        refused("jobId", () -> logs.append("", List.of()));
        refused("jobId", () -> logs.append("a\0", List.of(line("x"))));
        refused("entries", () -> logs.append("a", tooMany));
        refused("eventId", () -> line("x").withEventId(""));
        refused("eventId", () -> line("x").withEventId("e".repeat(161)));
        refused("eventId", () -> line("x").withEventId("e\0"));
        refused("fields", () -> line("x").withFields(Map.of("", "y")));
        refused("attempt", () -> LogEntry.of(-1, Level.INFO, "x"));
        refused("limit", () -> logs.tail("a", 0));
        refused("limit", () -> logs.page("a", null, 501));
        refused("retention", () -> logs.setRetention("a", Duration.ofSeconds(-1)));
        assertThatThrownBy(() -> LogSettings.DEFAULT.withMaxLogEntries(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("maxLogEntries", "found 0", "1 to 100000", "2000");
        assertThatThrownBy(() -> LogSettings.DEFAULT.withLogRetention(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("logRetention", "PT-1S", "PT0S");
    }

    private static void refused(String field, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        InvalidJobException.class, e -> assertThat(e.field()).isEqualTo(field));
    }

    @Test
    void tail_readsTheNewest_andItsNextFollowsTheLog() {
        logs.append("a", events(0, 10));

        LogPage tail = logs.tail("a", 3);
        assertThat(messages(tail)).containsExactly("line 7", "line 8", "line 9");
        assertThat(tail.more()).isFalse();
        assertThat(logs.page("a", tail.next(), 10).lines()).isEmpty();

        logs.append("a", events(10, 12));
        LogPage since = logs.page("a", logs.page("a", tail.next(), 1).next(), 10);
        assertThat(messages(since)).containsExactly("line 11");
    }

    /** Field case A14, for logs. */
    @Test
    void page_readsEachLineOnce_whileOthersAreAppended() {
        logs.append("a", events(0, 30));
        List<String> seen = new ArrayList<>();
        LogPage page = logs.page("a", null, 7);
        int appended = 30;
        while (true) {
            seen.addAll(messages(page));
            if (!page.more()) {
                break;
            }
            if (appended < 40) {
                logs.append("a", events(appended, appended + 1));
                appended++;
            }
            page = logs.page("a", page.next(), 7);
        }

        assertThat(seen)
                .isEqualTo(events(0, appended).stream().map(LogEntry::message).toList());
        assertThat(page.appended()).isEqualTo(appended);
    }

    @Test
    void page_behindLinesThatWereDropped_goesOnAtTheFirstThatIsKept() {
        few.append("a", events(0, 4));
        LogPage first = few.page("a", null, 2);
        few.append("a", events(4, 20));

        LogPage next = few.page("a", first.next(), 2);
        assertThat(next.lines()).extracting(LogLine::sequence).containsExactly(15L, 16L);
        assertThat(next.dropped()).isEqualTo(15);
        assertThat(next.more()).isTrue();
    }

    @Test
    void logOfNoLines_isAnEmptyPage() {
        for (LogPage page : List.of(logs.tail("none", 10), logs.page("none", null, 10))) {
            assertThat(page.lines()).isEmpty();
            assertThat(page.appended()).isZero();
            assertThat(page.dropped()).isZero();
            assertThat(page.more()).isFalse();
        }
        String next = logs.page("none", null, 10).next();
        logs.append("none", List.of(line("x")));
        assertThat(logs.page("none", next, 10).lines()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "x", "%%%", "bG9nOg", "bG9nOi0x", "bG9nOjAx", "bG9nOjk5OTk5OTk5OTk5OTk5OTk5OTk5OTk", "\0"})
    void malformedCursor_isAClearError(String cursor) {
        assertThatThrownBy(() -> logs.page("a", cursor, 10))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("Invalid cursor")
                .hasMessageContaining("next");
        assertThat(new String(Base64.getUrlDecoder().decode(logs.tail("a", 1).next()), StandardCharsets.US_ASCII))
                .isEqualTo("log:0");
    }

    /** Reads by what the stream says: a line that could not be trimmed yet is not shown. */
    @Test
    void read_showsNothingThatWasDropped() {
        logs.append("a", events(0, 10));
        db.dsl
                .update(EXECUTION_JOB_LOG_STREAMS)
                .set(EXECUTION_JOB_LOG_STREAMS.DROPPED_COUNT, 6L)
                .execute();

        assertThat(logs.tail("a", 100).lines()).hasSize(4);
        assertThat(logs.page("a", null, 100).lines()).hasSize(4);
    }

    @Test
    void entryThatNobodyCanRead_isShownAsItIs_andHidesNoOther() {
        logs.append("a", events(0, 3));
        db.dsl
                .update(EXECUTION_JOB_LOG_ENTRIES)
                .set(EXECUTION_JOB_LOG_ENTRIES.ENTRY, JsonText.of("{\"level\":\"Loud\"}"))
                .where(EXECUTION_JOB_LOG_ENTRIES.SEQUENCE.eq(1L))
                .execute();

        assertThat(messages(logs.tail("a", 10)))
                .containsExactly("line 0", "(an entry that this release can't read) {\"level\":\"Loud\"}", "line 2");
    }
}
