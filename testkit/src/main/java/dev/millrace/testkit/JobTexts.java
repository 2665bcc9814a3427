package dev.millrace.testkit;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.types.Priority;
import java.util.List;
import java.util.stream.Collectors;

/** Jobs in the words of messages. */
final class JobTexts {
    private static final int MOST_JOBS = 20;
    private static final int MOST_CHARACTERS = 200;

    private JobTexts() {}

    static String quoted(Job job) {
        return "\"" + job.id() + "\" (" + job.kind() + ")";
    }

    /** All that the kit sees, one to a line, or that there is none. */
    static String submitted(Scope scope, Selection selection) {
        String since = selection.isMarked() ? " since the mark" : "";
        List<String> ids = SubmittedJob.ids(scope, selection.condition());
        if (ids.isEmpty()) {
            return "No jobs" + selection.describe() + " were submitted" + since + ".";
        }
        String number = ids.size() == 1 ? "1 job" : ids.size() + " jobs";
        String were = ids.size() == 1 ? " was submitted" : " were submitted";
        List<SubmittedJob> first = SubmittedJob.read(scope, ids.subList(0, Math.min(ids.size(), MOST_JOBS)));
        return number + selection.describe() + were + since + ":" + lines(first, ids.size());
    }

    /** One to a line, each line begun anew. */
    static String lines(List<SubmittedJob> jobs) {
        return lines(jobs, jobs.size());
    }

    private static String lines(List<SubmittedJob> jobs, int number) {
        String rest = number > MOST_JOBS ? "\n  and " + (number - MOST_JOBS) + " more" : "";
        return jobs.stream().limit(MOST_JOBS).map(job -> "\n  " + line(job)).collect(Collectors.joining("", "", rest));
    }

    /** What differs from the defaults, and the payload. */
    private static String line(SubmittedJob submitted) {
        Job job = submitted.job();
        StringBuilder text = new StringBuilder(job.kind());
        text.append(' ').append(cut(job.spec().parameters().text()));
        if (!job.spec().queue().equals(JobSpec.DEFAULT_QUEUE)) {
            text.append(", queue ").append(job.spec().queue());
        }
        if (!job.spec().runtimeProfile().equals(JobSpec.DEFAULT_PROFILE)) {
            text.append(", profile ").append(job.spec().runtimeProfile());
        }
        if (!job.spec().backend().equals(JobSpec.LOCAL_BACKEND)) {
            text.append(", backend ").append(job.spec().backend());
        }
        if (job.priority() != Priority.NORMAL) {
            text.append(", priority ").append(job.priority().literal());
        }
        submitted
                .delay()
                .filter(delay -> !delay.isZero())
                .ifPresent(delay -> text.append(", delayed by ").append(delay));
        return text.append(", ")
                .append(job.status().literal())
                .append(", id ")
                .append(job.id())
                .toString();
    }

    private static String cut(String json) {
        return json.length() <= MOST_CHARACTERS ? json : json.substring(0, MOST_CHARACTERS) + "...";
    }
}
