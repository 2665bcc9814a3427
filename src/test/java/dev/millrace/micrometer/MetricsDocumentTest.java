package dev.millrace.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.recovery.BackendReport;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.SweepReport;
import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.store.Count;
import dev.millrace.store.Finish;
import dev.millrace.types.JsonText;
import dev.millrace.worker.WorkerListener.ClaimFailed;
import dev.millrace.worker.WorkerListener.Claimed;
import dev.millrace.worker.WorkerListener.Ended;
import dev.millrace.worker.WorkerListener.HeartbeatsFailed;
import dev.millrace.worker.WorkerListener.JobAttempt;
import dev.millrace.worker.WorkerListener.Lost;
import dev.millrace.worker.WorkerListener.Started;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** That the meters, what docs/metrics.md says of them, and the dashboard are the same. */
class MetricsDocumentTest {
    private static final Path DOCUMENT = Path.of("../docs/metrics.md");
    private static final Path DASHBOARD = Path.of("../docs/dashboard.json");
    private static final Pattern ROW = Pattern.compile("\\| `(millrace\\.[a-z.]+)` \\| ([a-z ]+) \\|([^|]*)\\| .*");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern IN_PROMETHEUS = Pattern.compile("millrace_[a-z_]+");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** Everything happens once. */
    @BeforeEach
    void letEverythingHappen() throws Exception {
        MillraceMetrics.of(registry).close();
        Counter missed = registry.counter("millrace.events.missed");
        Duration second = Duration.ofSeconds(1);
        JobAttempt attempt = new JobAttempt("job-1", "thumbnail", "default", "managed", 1, "worker");
        WorkerMeters workers = new WorkerMeters(registry, missed);
        workers.claimed(new Claimed("worker", 10, 2, second));
        workers.claimed(new Claimed("worker", 10, 0, second));
        workers.claimFailed(new ClaimFailed("worker", 10, second, new IllegalStateException()));
        workers.started(new Started(attempt, second));
        workers.started(new Started(attempt, null));
        for (Finish finish : List.of(
                new Finish.Succeed(),
                new Finish.Fail(null, Finish.Fail.Reason.HANDLER),
                new Finish.Retry(second, null),
                new Finish.HandBack(second, null),
                new Finish.Cancel())) {
            workers.ended(new Ended(attempt, finish, second));
        }
        workers.lost(new Lost(attempt, second));
        workers.heartbeatsFailed(new HeartbeatsFailed("worker", 3, new IllegalStateException()));
        workers.missed(4);
        RecoveryMeters recovery = new RecoveryMeters(registry, missed);
        recovery.swept(new SweepReport(null, 1, 2, 3, 4, 0, 0, 5, 6, 1, null), second);
        recovery.swept(new SweepReport(null, 0, 0, 0, 0, 0, 0, 5, 0, 0, null), second);
        recovery.backendSwept(new BackendReport(9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, null, false), second);
        recovery.retentionSwept(new RetentionReport(1, 2, 3, 4, 0, null, 0, 0, null), second);
        recovery.missed(1);
        FakeCounts counts = new FakeCounts();
        counts.waiting.put(new Source("managed", "default"), new Count(1, true));
        new QueuePoll(registry, counts, new FakeControls(), second).ask();
        observe();
    }

    private void observe() throws Exception {
        ObservationRegistry observed = ObservationRegistry.create();
        observed.observationConfig().observationHandler(new DefaultMeterObservationHandler(registry));
        MillraceObservations observations = MillraceObservations.of(observed);
        Job job = Job.of("job-1", JobSpec.of("thumbnail", JsonText.of("{}")), Instant.EPOCH);
        Observation.createNotStarted("order", observed).observe(() -> {
            assertThat(observations.current().get()).isNull(); // there is no tracer
        });
        observations.interceptor().around(new FakeRun(job, 1, null), () -> {
            // Only while they go on do they have numbers.
            assertThat(registry.scrape()).contains("millrace_job_run_active");
        });
    }

    private Map<String, Set<String>> metersWithTags() {
        Map<String, Set<String>> meters = new TreeMap<>();
        for (Meter meter : registry.getMeters()) {
            if (meter.getId().getName().startsWith("millrace.")) {
                meters.computeIfAbsent(meter.getId().getName(), name -> new TreeSet<>())
                        .addAll(meter.getId().getTags().stream()
                                .map(Tag::getKey)
                                .toList());
            }
        }
        return meters;
    }

    private static List<MatchResult> rows() throws IOException {
        return Files.readAllLines(DOCUMENT).stream()
                .map(ROW::matcher)
                .filter(matcher -> matcher.matches())
                .map(MatchResult.class::cast)
                .toList();
    }

    private static Set<String> words(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map(result -> result.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void document_namesEachMeter_withItsTags_andNoOther() throws Exception {
        Map<String, Set<String>> documented = new TreeMap<>();
        rows().forEach(row -> documented.put(row.group(1), words(CODE, row.group(3), 1)));
        assertThat(documented).isEqualTo(metersWithTags());
    }

    @Test
    void document_namesEachValueOfTheTagsThatSayWhatHappened() throws Exception {
        Map<String, String> byName =
                rows().stream().collect(Collectors.toMap(row -> row.group(1), row -> row.group(0), (a, b) -> a));
        Set<String> ofOurs = Set.of("result", "outcome", "how", "loop", "what", "type");
        for (Meter meter : registry.getMeters()) {
            for (Tag tag : meter.getId().getTags()) {
                if (ofOurs.contains(tag.getKey())
                        && byName.containsKey(meter.getId().getName())) {
                    if (!tag.getValue().equals("none")) {
                        assertThat(byName.get(meter.getId().getName())).contains("`" + tag.getValue() + "`");
                    }
                }
            }
        }
    }

    @Test
    void alertsAndDashboard_nameOnlyWhatPrometheusGets() throws Exception {
        Set<String> samples = samples();
        assertThat(words(IN_PROMETHEUS, Files.readString(DOCUMENT), 0))
                .isNotEmpty()
                .isSubsetOf(samples);
        assertThat(onDashboard()).isNotEmpty().isSubsetOf(samples);
    }

    @Test
    void document_showsTheHandlerThatIsTested() throws Exception {
        String source = Files.readString(Path.of("test/java/dev/millrace/micrometer/LinkingHandler.java"));
        int from = source.indexOf("// tag::handler[]\n") + "// tag::handler[]\n".length();
        assertThat(Files.readString(DOCUMENT)).contains(source.substring(from, source.indexOf("// end::handler[]")));
    }

    @Test
    void dashboard_showsEachMeter() throws Exception {
        Set<String> shown = onDashboard();
        for (String meter : metersWithTags().keySet()) {
            String name = meter.replace('.', '_');
            assertThat(Stream.of("", "_seconds", "_total", "_seconds_count", "_seconds_max")
                            .map(name::concat))
                    .as(meter)
                    .anyMatch(shown::contains);
        }
    }

    private Set<String> samples() {
        return Arrays.stream(registry.scrape().split("\n"))
                .filter(line -> line.startsWith("millrace_"))
                .map(line -> line.split("[{ ]", 2)[0])
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> onDashboard() throws IOException {
        Set<String> names = new TreeSet<>();
        for (JsonNode expression :
                new ObjectMapper().readTree(Files.readString(DASHBOARD)).findValues("expr")) {
            names.addAll(words(IN_PROMETHEUS, expression.asText(), 0));
        }
        return names;
    }
}
