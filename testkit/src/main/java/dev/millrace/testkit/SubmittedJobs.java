package dev.millrace.testkit;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The submitted jobs of one kind, of which each further word leaves those that it is true of. One that leaves none is an
 * {@link AssertionError}, whose message shows what was submitted. The jobs are read once, when the first word is said.
 *
 * <pre>{@code
 * kit.assertSubmitted(SHIP).withPayload(new Ship(7)).inQueue("parcels").once();
 * }</pre>
 *
 * <p>Immutable.
 *
 * @param <T> the payload's type
 */
public final class SubmittedJobs<T> {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final JobType<T> type;
    private final PayloadCodec codec;
    private final Scope scope;
    private final Selection selection;
    private final String words;
    private final List<SubmittedJob> jobs;

    private SubmittedJobs(
            JobType<T> type,
            PayloadCodec codec,
            Scope scope,
            Selection selection,
            String words,
            List<SubmittedJob> jobs) {
        this.type = type;
        this.codec = codec;
        this.scope = scope;
        this.selection = selection;
        this.words = words;
        this.jobs = jobs;
    }

    /** Those of this kind, of which there may be none. */
    static <T> SubmittedJobs<T> read(JobType<T> type, PayloadCodec codec, Scope scope, Selection selection) {
        List<String> ids = SubmittedJob.ids(scope, selection.condition().and(EXECUTION_JOBS.KIND.eq(type.kind())));
        List<SubmittedJob> jobs = SubmittedJob.read(scope, ids);
        return new SubmittedJobs<>(type, codec, scope, selection, "of kind " + type.kind(), jobs);
    }

    /**
     * Those with a payload that equals this one, by its {@code equals} or as JSON.
     *
     * @param expected the payload
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> withPayload(T expected) {
        JsonNode json = json(codec.encode(type, expected));
        return those(
                "with the payload " + codec.encode(type, expected).text(),
                job -> payload(job.job()).equals(expected)
                        || json(job.job().spec().parameters()).equals(json));
    }

    /**
     * Those with a payload of which this is true.
     *
     * @param condition is given the payload
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> withPayloadThat(Predicate<? super T> condition) {
        return filteredByPayload(condition).assertLeft(this);
    }

    /**
     * Those that wait in this queue, or did.
     *
     * @param queue the name of the queue
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> inQueue(String queue) {
        return those("in queue " + queue, job -> job.job().spec().queue().equals(queue));
    }

    /**
     * Those for workers of this profile.
     *
     * @param profile the name of the profile
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> forProfile(String profile) {
        return those(
                "for profile " + profile,
                job -> job.job().spec().runtimeProfile().equals(profile));
    }

    /**
     * Those of this priority.
     *
     * @param priority the priority
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> withPriority(Priority priority) {
        return those("with priority " + priority.literal(), job -> job.job().priority() == priority);
    }

    /**
     * Those that were submitted with this delay. The delay of a job that was claimed since is no longer known.
     *
     * @param delay as it was submitted, to the microsecond; zero for none
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> withDelay(Duration delay) {
        return those("delayed by " + delay, job -> job.delay().equals(Optional.of(delay)));
    }

    /**
     * The one with this id.
     *
     * @param id the id
     * @return that one
     * @throws AssertionError if there is none
     */
    public SubmittedJobs<T> withId(String id) {
        return those("with id " + id, job -> job.job().id().equals(id));
    }

    /**
     * Those of which this is true.
     *
     * @param words the condition in words, to follow "a job" in a message
     * @param condition is given the job
     * @return those
     * @throws AssertionError if there are none
     */
    public SubmittedJobs<T> that(String words, Predicate<? super Job> condition) {
        return those(words, job -> condition.test(job.job()));
    }

    /**
     * Checks that it is one job.
     *
     * @return the same
     * @throws AssertionError if there are more
     */
    public SubmittedJobs<T> once() {
        return times(1);
    }

    /**
     * Checks how many jobs it is.
     *
     * @param expected the number
     * @return the same
     * @throws AssertionError if there are more or fewer
     */
    public SubmittedJobs<T> times(int expected) {
        if (jobs.size() != expected) {
            throw new AssertionError("Expected " + expected + (expected == 1 ? " job " : " jobs ") + words + ", found "
                    + jobs.size() + ":" + JobTexts.lines(jobs));
        }
        return this;
    }

    /** {@return the one job that it is} Throws an {@link AssertionError} if there are more. */
    public Job job() {
        return once().jobs.get(0).job();
    }

    /** {@return the payload of the one job that it is} Throws an {@link AssertionError} if there are more. */
    public T payload() {
        return payload(job());
    }

    /** {@return the jobs, in the order in which they were submitted, at least one} */
    public List<Job> jobs() {
        return jobs.stream().map(SubmittedJob::job).toList();
    }

    /** {@return their payloads, in the same order} */
    public List<T> payloads() {
        return jobs.stream().map(job -> payload(job.job())).toList();
    }

    SubmittedJobs<T> assertSome() {
        if (jobs.isEmpty()) {
            throw new AssertionError(
                    "Expected a job " + words + ", found none. " + JobTexts.submitted(scope, selection));
        }
        return this;
    }

    void assertNone() {
        if (!jobs.isEmpty()) {
            throw new AssertionError(
                    "Expected no job " + words + ", found " + jobs.size() + ":" + JobTexts.lines(jobs));
        }
    }

    /** Those of which this is true, also if there are none. */
    SubmittedJobs<T> filtered(String more, Predicate<SubmittedJob> condition) {
        return new SubmittedJobs<>(
                type,
                codec,
                scope,
                selection,
                words + ", " + more,
                jobs.stream().filter(condition).toList());
    }

    SubmittedJobs<T> filteredByPayload(Predicate<? super T> condition) {
        return filtered("with a payload that fulfils the condition", job -> condition.test(payload(job.job())));
    }

    private SubmittedJobs<T> those(String more, Predicate<SubmittedJob> condition) {
        return filtered(more, condition).assertLeft(this);
    }

    private SubmittedJobs<T> assertLeft(SubmittedJobs<T> of) {
        if (jobs.isEmpty()) {
            throw new AssertionError(
                    "Expected a job " + words + ", found none. Those " + of.words + " are:" + JobTexts.lines(of.jobs));
        }
        return this;
    }

    private T payload(Job job) {
        return Objects.requireNonNull(codec.decode(type, job.spec().parameters()));
    }

    private static JsonNode json(JsonText text) {
        try {
            return JSON.readTree(text.text());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // of a text that is JSON by its type
        }
    }
}
