package dev.millrace.testkit;

import static dev.millrace.SubmitOption.backend;
import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.priority;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.runtimeProfile;
import static dev.millrace.SubmitOption.tenant;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.Millrace;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What was submitted, and what the messages say if something else was. */
@MillraceTest
class SubmittedJobsTest {
    record Mail(String to, int copies) {}

    /** Without {@code equals}: compared as JSON. */
    static final class Letter {
        public String street = "";
        public int number;

        static Letter to(String street, int number) {
            Letter letter = new Letter();
            letter.street = street;
            letter.number = number;
            return letter;
        }
    }

    private static final JobType<Mail> MAIL = JobType.of("mail", Mail.class);
    private static final JobType<Letter> LETTER = JobType.of("letter", Letter.class);

    private final Millrace millrace;
    private final TestKit kit;

    SubmittedJobsTest(Millrace millrace, TestKit kit) {
        this.millrace = millrace;
        this.kit = kit;
    }

    private static String message(ThrowingCallable assertion) {
        return catchThrowableOfType(AssertionError.class, assertion).getMessage();
    }

    @Test
    void assertSubmitted_ofWhatWasSubmitted_passes_andGivesTheJob() {
        Job job = millrace.submit(
                MAIL,
                new Mail("ann", 2),
                queue("post"),
                runtimeProfile("printer"),
                priority(Priority.HIGH),
                delay(ofMinutes(5)),
                tenant("shop"));
        millrace.submit(MAIL, new Mail("bob", 1));
        SubmittedJobs<Mail> found = kit.assertSubmitted(MAIL)
                .withPayload(new Mail("ann", 2))
                .withPayloadThat(mail -> mail.copies() > 1)
                .inQueue("post")
                .forProfile("printer")
                .withPriority(Priority.HIGH)
                .withDelay(ofMinutes(5))
                .withId(job.id())
                .that("of the shop", it -> "shop".equals(it.audit().tenantId()))
                .once();
        assertThat(found.job()).isEqualTo(job);
        assertThat(found.payload()).isEqualTo(new Mail("ann", 2));
        assertThat(kit.assertSubmitted(MAIL).times(2).payloads())
                .containsExactly(new Mail("ann", 2), new Mail("bob", 1));
        assertThat(kit.assertSubmitted(MAIL).withDelay(Duration.ZERO).payload()).isEqualTo(new Mail("bob", 1));
    }

    @Test
    void assertSubmitted_withNothingThere_saysSo() {
        assertThat(message(() -> kit.assertSubmitted(MAIL)))
                .isEqualTo("Expected a job of kind mail, found none. No jobs were submitted since the mark.");
        assertThat(message(() -> TestKit.on(millrace).onlyQueues("nowhere").assertSubmitted(MAIL)))
                .isEqualTo("Expected a job of kind mail, found none. No jobs of queue nowhere were submitted.");
    }

    @Test
    void assertSubmitted_ofAnotherKind_showsWhatWasSubmitted() {
        millrace.submit(LETTER, Letter.to("Main", 1), id("letter-1-" + UUID.randomUUID()));
        String id = "letter-2-" + UUID.randomUUID();
        millrace.submit(
                LETTER,
                Letter.to("Side", 2),
                id(id),
                queue("post"),
                runtimeProfile("printer"),
                priority(Priority.LOW),
                delay(ofMinutes(5)));
        assertThat(message(() -> kit.assertSubmitted(MAIL)))
                .startsWith("Expected a job of kind mail, found none. 2 jobs were submitted since the mark:\n  letter"
                        + " {\"street\":\"Main\",\"number\":1}, Queued, id letter-1-")
                .endsWith("\n  letter {\"street\":\"Side\",\"number\":2}, queue post, profile printer, priority Low,"
                        + " delayed by PT5M, Queued, id " + id);
    }

    @Test
    void word_thatLeavesNone_showsThoseThatWereLeftBefore() {
        millrace.submit(MAIL, new Mail("ann", 2), queue("post"), id("ann-1"));
        millrace.submit(MAIL, new Mail("bob", 1), id("bob-1"));
        millrace.submit(LETTER, Letter.to("Main", 1));
        assertThat(message(() -> kit.assertSubmitted(MAIL).inQueue("post").withPayload(new Mail("ann", 3))))
                .isEqualTo(
                        "Expected a job of kind mail, in queue post, with the payload {\"to\":\"ann\",\"copies\":3}, found"
                                + " none. Those of kind mail, in queue post are:\n  mail {\"to\":\"ann\",\"copies\":2}, queue post,"
                                + " Queued, id ann-1");
        SubmittedJobs<Mail> mails = kit.assertSubmitted(MAIL);
        assertThat(message(() -> mails.withPayloadThat(mail -> mail.copies() > 2)))
                .contains("fulfils the condition");
        assertThat(message(() -> mails.inQueue("mail"))).contains("in queue mail");
        assertThat(message(() -> mails.forProfile("gpu"))).contains("for profile gpu");
        assertThat(message(() -> mails.withPriority(Priority.LOW))).contains("with priority Low");
        assertThat(message(() -> mails.withDelay(ofMinutes(1)))).contains("delayed by PT1M");
        assertThat(message(() -> mails.withId("eve-1"))).contains("with id eve-1");
        assertThat(message(() -> mails.that("of the shop", job -> false))).contains("of kind mail, of the shop");
    }

    @Test
    void anotherNumber_isAnError() {
        millrace.submitAll(MAIL, List.of(new Mail("ann", 1), new Mail("bob", 1)));
        SubmittedJobs<Mail> mails = kit.assertSubmitted(MAIL);
        assertThat(message(mails::once)).startsWith("Expected 1 job of kind mail, found 2:\n  mail {\"to\":\"ann\"");
        assertThat(message(() -> mails.times(3))).startsWith("Expected 3 jobs of kind mail, found 2:");
        assertThat(message(mails::job)).startsWith("Expected 1 job of kind mail, found 2:");
        assertThat(message(mails::payload)).startsWith("Expected 1 job of kind mail, found 2:");
    }

    /** The same set, and another JSON. */
    @Test
    void payloadWithEquals_isComparedByThat() {
        record Labels(Set<String> names) {}
        JobType<Labels> label = JobType.of("label", Labels.class);
        millrace.submit(label, new Labels(new LinkedHashSet<>(List.of("b", "a"))));
        kit.assertSubmitted(label)
                .withPayload(new Labels(new LinkedHashSet<>(List.of("a", "b"))))
                .once();
    }

    @Test
    void payloadWithoutEquals_isComparedAsJson() {
        millrace.submit(LETTER, Letter.to("Main", 1));
        kit.assertSubmitted(LETTER).withPayload(Letter.to("Main", 1)).once();
        assertThat(message(() -> kit.assertSubmitted(LETTER).withPayload(Letter.to("Main", 2))))
                .contains("\"number\":2");
    }

    @Test
    void assertNotSubmitted_andNothingSubmitted_showWhatWasSubmitted() {
        kit.assertNothingSubmitted();
        kit.assertNotSubmitted(MAIL);
        millrace.submit(MAIL, new Mail("ann", 1), id("ann-2"));
        kit.assertNotSubmitted(LETTER);
        kit.assertNotSubmitted(MAIL, mail -> mail.copies() > 1);
        assertThat(message(kit::assertNothingSubmitted))
                .isEqualTo(
                        "Expected no jobs. 1 job was submitted since the mark:\n  mail {\"to\":\"ann\",\"copies\":1}, Queued,"
                                + " id ann-2");
        assertThat(message(() -> kit.assertNotSubmitted(MAIL)))
                .startsWith("Expected no job of kind mail, found 1:\n  mail");
        assertThat(message(() -> kit.assertNotSubmitted(MAIL, mail -> mail.copies() == 1)))
                .startsWith("Expected no job of kind mail, with a payload that fulfils the condition, found 1:");
    }

    @Test
    void jobsOfBefore_areNotSeen_alsoAfterTimeHasPassed() {
        millrace.submit(MAIL, new Mail("ann", 1));
        TestKit later = kit.sinceNow();
        later.assertNothingSubmitted();
        Job job = millrace.submit(MAIL, new Mail("bob", 1));
        later.timePasses(Duration.ofDays(1));
        assertThat(later.assertSubmitted(MAIL).job().id()).isEqualTo(job.id());
        kit.assertSubmitted(MAIL).times(2);
    }

    /** It began before the mark, and its time of creation says so; but nobody could see it then. */
    @Test
    void jobWhoseTransactionCommitsLate_isOneOfAfterTheMark() throws Exception {
        try (var connection = millrace.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            millrace.in(connection).submit(MAIL, new Mail("ann", 1));
            TestKit later = kit.sinceNow();
            connection.commit();
            later.assertSubmitted(MAIL).once();
        }
    }

    @Test
    void whatHasBecomeOfAJob_doesNotMatter() {
        kit.handle(MAIL, (mail, context) -> {}).run(MAIL, new Mail("ann", 1)).assertSucceeded();
        kit.assertSubmitted(MAIL).once();
        assertThat(message(() -> kit.assertSubmitted(MAIL).withDelay(Duration.ZERO)))
                .contains("Succeeded");
    }

    @Test
    void jobThatIsToBeTriedAgain_hasNoKnownDelay() {
        TestKit failing = kit.handle(MAIL, (mail, context) -> {
            throw new IllegalStateException("as asked");
        });
        failing.run(MAIL, new Mail("ann", 1)).assertQueuedAgain();
        assertThat(message(() -> kit.assertSubmitted(MAIL).withDelay(Duration.ZERO)))
                .doesNotContain("delayed by PT2")
                .contains("Queued");
    }

    @Test
    void longListsAndPayloads_areCut() {
        millrace.submitAll(
                MAIL,
                IntStream.range(0, 25)
                        .mapToObj(i -> new Mail("x".repeat(300), i))
                        .toList());
        assertThat(message(() -> kit.assertSubmitted(LETTER)))
                .contains("25 jobs were submitted")
                .contains("xxx..., Queued")
                .doesNotContain("x".repeat(250))
                .endsWith("\n  and 5 more");
        assertThat(message(() -> kit.assertSubmitted(MAIL).once())).endsWith("\n  and 5 more");
    }

    @Test
    void remoteJobs_areSeen() {
        millrace.submit(MAIL, new Mail("ann", 1), backend("cluster"));
        assertThat(message(() -> kit.assertNotSubmitted(MAIL))).contains("backend cluster");
    }
}
