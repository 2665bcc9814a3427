package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobReferences;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Dimension;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import dev.millrace.store.LookupKey;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class QueryTest {
    private static final Instant NOON = Instant.parse("2024-05-01T12:00:00Z");

    private static final Comparator<Job> NEWEST_FIRST =
            Comparator.comparing(Job::createdAt).thenComparing(Job::id).reversed();

    private final StoreFixture db;

    QueryTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void clear() {
        db.clear();
    }

    private Job create(String id, Instant createdAt) {
        return db.jobs.create(job(id, createdAt)).job();
    }

    private static Job job(String id, Instant createdAt) {
        return Job.of(id, JobSpec.of("kind", JsonText.of("{}")), createdAt);
    }

    private static List<String> ids(JobPage page) {
        return page.jobs().stream().map(Job::id).toList();
    }

    private List<String> list(JobQuery query) {
        return ids(db.jobs.query(query));
    }

    /** Field case A14. */
    @Test
    void pages_ofOneTimestamp_holdEachUnchangedJobOnce_whateverBecomesOfTheOthers() {
        List<String> all = IntStream.range(0, 30)
                .mapToObj(n -> create("job-%02d".formatted(n), NOON).id())
                .toList();
        for (JobQuery query : List.of(
                JobQuery.ALL.withLimit(7),
                JobQuery.ALL.withLimit(7).withKind("kind"),
                JobQuery.ALL.withLimit(7).withoutTenant(),
                JobQuery.ALL.withLimit(7).active(),
                JobQuery.ALL.withLimit(7).withStatuses(JobStatus.QUEUED),
                JobQuery.ALL.withLimit(7).withQueue("default"))) {
            db.clear();
            all.forEach(id -> create(id, NOON));
            List<String> seen = new ArrayList<>();
            Set<String> touched = new TreeSet<>();
            JobPage page = db.jobs.query(query);
            while (true) {
                seen.addAll(ids(page));
                if (page.next().isEmpty()) {
                    break;
                }
                // The cursor's row goes; one that was shown and one that is still to come change their status.
                String last = seen.get(seen.size() - 1);
                touched.add(last);
                db.dsl
                        .deleteFrom(EXECUTION_JOBS)
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(last))
                        .execute();
                for (String other : List.of(seen.get(0), all.get(30 - seen.size() - 2))) {
                    touched.add(other);
                    db.jobs.cancel(other, null, null);
                }
                page = db.jobs.query(query.after(page.next().get()));
            }
            assertThat(seen).as("%s", query).doesNotHaveDuplicates();
            assertThat(seen).isSortedAccordingTo(Comparator.reverseOrder());
            assertThat(seen)
                    .containsAll(
                            all.stream().filter(id -> !touched.contains(id)).toList());
        }
    }

    @Test
    void pages_endWhereNothingFollows() {
        IntStream.range(0, 4).forEach(n -> create("job-" + n, NOON.plusSeconds(n)));
        JobPage full = db.jobs.query(JobQuery.ALL.withLimit(4));
        assertThat(ids(full)).containsExactly("job-3", "job-2", "job-1", "job-0");
        assertThat(full.next()).isEmpty();
        JobPage first = db.jobs.query(JobQuery.ALL.withLimit(2));
        JobPage second =
                db.jobs.query(JobQuery.ALL.withLimit(2).after(first.next().orElseThrow()));
        assertThat(ids(second)).containsExactly("job-1", "job-0");
        assertThat(second.next()).isEmpty();
    }

    @Test
    void createdFrom_isIncluded_createdBefore_isNot() {
        for (int n = 0; n < 4; n++) {
            create("job-" + n, NOON.plusNanos(1_000L * n));
        }
        JobQuery query = JobQuery.ALL.withCreatedFrom(NOON.plusNanos(1_000)).withCreatedBefore(NOON.plusNanos(3_000));
        assertThat(list(query)).containsExactly("job-2", "job-1");
    }

    @Test
    void tenantScope_isAnybodys_oneTenants_orNobodys() {
        Job job = job("a", NOON);
        db.jobs.create(job);
        db.jobs.create(job("b", NOON).withAudit(job.audit().withTenantId("acme")));
        db.jobs.create(job("c", NOON).withAudit(job.audit().withTenantId("other")));
        assertThat(list(JobQuery.ALL)).containsExactly("c", "b", "a");
        assertThat(list(JobQuery.ALL.withTenant("acme"))).containsExactly("b");
        assertThat(list(JobQuery.ALL.withTenant("ACME"))).isEmpty();
        assertThat(list(JobQuery.ALL.withoutTenant())).containsExactly("a");
    }

    @Test
    void keys_areEvenedOutAsTheyAreWhenWritten_andAllMustMatch() {
        Job plain = job("a", NOON);
        JobReferences references = JobReferences.NONE
                .withDefinitionId("def")
                .withPlanId("plan")
                .withResources(List.of("disk", " Straße "))
                .withEnvironment("prod")
                .withServer("srv")
                .withRelease("r1")
                .withChangeSet("cs")
                .withAlert("alarm")
                .withRun("run", "step");
        db.jobs.create(plain.withSpec(plain.spec().withReferences(references).withQueue("Mail"))
                .withAudit(plain.audit()
                        .withRequestedBy("ann")
                        .withCorrelationId("c-1")
                        .withTraceContext("00-trace")));
        db.jobs.create(job("b", NOON).withSpec(plain.spec().withQueue("Mail")));
        JobQuery query = JobQuery.ALL
                .withQueue("mail")
                .with(Dimension.BACKEND, "LOCAL")
                .with(Dimension.REQUESTED_BY, " Ann\t")
                .with(Dimension.CORRELATION, "C-1")
                .with(Dimension.TRACE, "00-TRACE")
                .with(Dimension.DEFINITION, "DEF")
                .with(Dimension.DEFINITION, "Plan")
                .with(Dimension.RESOURCE, "DISK")
                .with(Dimension.RESOURCE, "strasse")
                .with(Dimension.ENVIRONMENT, "PROD")
                .with(Dimension.SERVER, "SRV")
                .with(Dimension.RELEASE, "R1")
                .with(Dimension.CHANGE_SET, "CS")
                .with(Dimension.ALERT, "Alarm")
                .with(Dimension.RUN, "RUN");
        assertThat(query.keys()).extracting(LookupKey::dimension).contains(Dimension.values());
        assertThat(list(query)).containsExactly("a");
        assertThat(list(JobQuery.ALL.withQueue("MAIL"))).containsExactly("b", "a");
        assertThat(list(query.with(Dimension.RELEASE, "r2"))).isEmpty();
    }

    /** All conditions in all company, against the same conditions in Java. */
    @Test
    void anyQuery_findsWhatFulfilsIt_inOrder() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Job> jobs = IntStream.range(0, 120).mapToObj(n -> some(random, n)).toList();
        for (int round = 0; round < 150; round++) {
            JobQuery query = some(random);
            List<String> expected = jobs.stream()
                    .filter(job -> fulfils(job, query))
                    .sorted(NEWEST_FIRST)
                    .map(Job::id)
                    .toList();
            List<String> found = new ArrayList<>();
            JobPage page = db.jobs.query(query);
            found.addAll(ids(page));
            while (page.next().isPresent()) {
                assertThat(page.jobs()).hasSize(query.limit());
                page = db.jobs.query(query.after(page.next().get()));
                found.addAll(ids(page));
            }
            assertThat(found).as("seed %d, %s", seed, query).isEqualTo(expected);
            long counted = db.store.counts().exact(query).stream()
                    .mapToLong(count -> count.jobs())
                    .sum();
            assertThat(counted).as("seed %d, %s", seed, query).isEqualTo(expected.size());
        }
    }

    private Job some(Random random, int n) {
        Job job = job("job-%03d".formatted(n), NOON.plusSeconds(random.nextInt(20)));
        job = job.withSpec(
                JobSpec.of("kind-" + random.nextInt(3), JsonText.of("{}")).withQueue("queue-" + random.nextInt(3)));
        if (random.nextBoolean()) {
            job = job.withAudit(job.audit().withTenantId("tenant-" + random.nextInt(2)));
        }
        job = job.withAudit(job.audit().withRequestedBy("user-" + random.nextInt(4)));
        db.jobs.create(job);
        JobStatus status = any(random);
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.STATUS, status)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
        return db.get(job.id());
    }

    private static JobStatus any(Random random) {
        return List.of(JobStatus.values()).get(random.nextInt(6));
    }

    private static JobQuery some(Random random) {
        JobQuery query = JobQuery.ALL.withLimit(1 + random.nextInt(40));
        if (random.nextBoolean()) {
            query = query.withStatuses(IntStream.range(0, random.nextInt(7))
                    .mapToObj(n -> any(random))
                    .distinct()
                    .toArray(JobStatus[]::new));
        }
        if (random.nextInt(3) == 0) {
            query = query.withKind("kind-" + random.nextInt(4));
        }
        query = switch (random.nextInt(4)) {
            case 0 -> query.withTenant("tenant-" + random.nextInt(3));
            case 1 -> query.withoutTenant();
            default -> query;
        };
        if (random.nextInt(4) == 0) {
            query = query.withCreatedFrom(NOON.plusSeconds(random.nextInt(20)));
        }
        if (random.nextInt(4) == 0) {
            query = query.withCreatedBefore(NOON.plusSeconds(random.nextInt(20)));
        }
        if (random.nextInt(3) == 0) {
            query = query.withQueue("queue-" + random.nextInt(3));
        }
        return random.nextInt(3) > 0 ? query : query.with(Dimension.REQUESTED_BY, "user-" + random.nextInt(5));
    }

    private static boolean fulfils(Job job, JobQuery query) {
        String tenant = job.audit().tenantId();
        boolean whose = query.tenants() instanceof JobQuery.Tenants.Any
                || (query.tenants() instanceof JobQuery.Tenants.None && tenant == null)
                || (query.tenants() instanceof JobQuery.Tenants.Only only
                        && only.id().equals(tenant));
        return whose
                && (query.statuses().isEmpty() || query.statuses().contains(job.status()))
                && (query.kind() == null || query.kind().equals(job.spec().kind()))
                && (query.createdFrom() == null || !job.createdAt().isBefore(query.createdFrom()))
                && (query.createdBefore() == null || job.createdAt().isBefore(query.createdBefore()))
                && JobRows.lookupKeys(job)
                        .containsAll(query.keys().stream().map(LookupKey::text).collect(Collectors.toSet()));
    }

    /** Field case A21: lists carry on. */
    @Test
    void unreadableJob_isNamedOnItsPage_andKeepsNobodyOut() {
        List<JsonText> broken = List.of(
                JsonText.of("{\"id\":\"b\",\"spec\":{\"kind\":7,\"parameters\":[]}}"),
                JsonText.of("[]"),
                JsonText.of("{\"id\":\"another\"}"));
        for (JsonText record : broken) {
            db.clear();
            List.of("a", "b", "c", "d").forEach(id -> create(id, NOON));
            db.breakRecord("b", record);
            db.breakRecord("c", record);
            JobPage page = db.jobs.query(JobQuery.ALL.withLimit(2));
            assertThat(ids(page)).containsExactly("d");
            assertThat(page.unreadable()).containsExactly("c");
            JobPage rest =
                    db.jobs.query(JobQuery.ALL.withLimit(2).after(page.next().orElseThrow()));
            assertThat(ids(rest)).containsExactly("a");
            assertThat(rest.unreadable()).containsExactly("b");
            JobPage active = db.jobs.listActive("kind", 10);
            assertThat(ids(active)).containsExactly("d", "a");
            assertThat(active.unreadable()).containsExactly("c", "b");
        }
    }

    @Test
    void listActive_leavesOutWhatHasEnded_andGoesOnAsAQuery() {
        IntStream.range(0, 6).forEach(n -> create("job-" + n, NOON.plusSeconds(n)));
        db.jobs.cancel("job-4", null, null);
        JobPage page = db.jobs.listActive(null, 3);
        assertThat(ids(page)).containsExactly("job-5", "job-3", "job-2");
        assertThat(list(JobQuery.ALL.active().after(page.next().orElseThrow()))).containsExactly("job-1", "job-0");
        assertThat(db.jobs.listActive("none", 3).jobs()).isEmpty();
    }

    @Test
    void cursor_isUrlSafe_andKeepsAnyIdAndTime() {
        List<String> ids = List.of("a", "\u00fc/?+ \ud83d\ude00", "x".repeat(512), "\u2713".repeat(512));
        for (String id : ids) {
            for (Instant time : List.of(
                    Instant.parse("0001-01-01T00:00:00.000001Z"), NOON, Instant.parse("9999-12-31T23:59:59.999999Z"))) {
                String text = new JobCursor(time, id).text();
                assertThat(text).matches("[A-Za-z0-9_-]+");
                assertThat(JobCursor.of(text)).isEqualTo(new JobCursor(time, id));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "x", "???", "AAAAAAAAAAA", "f_________9h", "AAAAAAAAAAD_", "AAAAAAAAAAAA", "not a cursor"})
    void malformedCursor_isRefusedBeforeAnySql(String cursor) {
        PostgresStore nowhere = PostgresStore.on(db.database.dataSource(), "no such schema");
        assertThatThrownBy(() -> nowhere.jobs().query(JobQuery.ALL.after(cursor)))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("cursor");
    }

    @Test
    void cursor_ofATimeThatIsNone_isRefused() {
        byte[] bytes = new byte[9];
        bytes[0] = 127;
        bytes[8] = 'a';
        String cursor = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        assertThatThrownBy(() -> db.jobs.query(JobQuery.ALL.after(cursor))).isInstanceOf(InvalidJobException.class);
    }

    @Test
    void badQueries_areRefused() {
        for (int limit : new int[] {0, -1, 201}) {
            assertThatThrownBy(() -> JobQuery.ALL.withLimit(limit)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> db.jobs.listActive(null, limit)).isInstanceOf(InvalidJobException.class);
        }
        for (String bad : List.of("", "a\0b", "\ud800", "x".repeat(513))) {
            assertThatThrownBy(() -> JobQuery.ALL.withKind(bad)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> JobQuery.ALL.withTenant(bad)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> JobQuery.ALL.withQueue(bad)).isInstanceOf(InvalidJobException.class);
            assertThatThrownBy(() -> JobQuery.ALL.with(Dimension.RUN, bad)).isInstanceOf(InvalidJobException.class);
        }
        assertThatThrownBy(() -> JobQuery.ALL.with(Dimension.RUN, "  ")).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> JobQuery.ALL.withCreatedFrom(Instant.MAX)).isInstanceOf(InvalidJobException.class);
        JobQuery many = JobQuery.ALL;
        for (int n = 0; n < JobQuery.MAX_KEYS; n++) {
            many = many.with(Dimension.RESOURCE, "r" + n);
        }
        JobQuery full = many;
        assertThatThrownBy(() -> full.with(Dimension.RESOURCE, "one more")).isInstanceOf(InvalidJobException.class);
    }

    @Test
    void query_inACallersTransaction_seesWhatIsNotCommitted() {
        db.undone(tx -> {
            PostgresStore store = db.store.in(tx);
            store.jobs().submit(StoreFixture.newJob("uncommitted"));
            assertThat(store.jobs().listActive("uncommitted", 10).jobs()).hasSize(1);
            assertThat(db.jobs.listActive("uncommitted", 10).jobs()).isEmpty();
        });
    }

    @Test
    void counts_sayHowFarTheyWent() {
        IntStream.range(0, 5).forEach(n -> db.submit("a"));
        db.submit("b");
        db.submit(StoreFixture.newJob("c").withDelay(Duration.ofHours(1)));
        db.jobs.cancel(db.submit("b").id(), null, null);
        assertThat(db.store.counts().byStatus(7))
                .containsOnlyKeys(JobStatus.values())
                .hasEntrySatisfying(JobStatus.QUEUED, count -> assertThat(count).hasToString("7"))
                .hasEntrySatisfying(
                        JobStatus.CANCELLED, count -> assertThat(count).hasToString("1"))
                .hasEntrySatisfying(JobStatus.FAILED, count -> assertThat(count).hasToString("0"));
        assertThat(db.store.counts().byStatus(6).get(JobStatus.QUEUED)).hasToString("over 6");
        assertThat(db.store.counts().byKind(3).toString()).isEqualTo("{a=over 3, b=2, c=1}");
        db.submit(StoreFixture.newJob("c")
                .withSpec(JobSpec.of("c", JsonText.of("{}")).withQueue("later"))
                .withDelay(Duration.ofHours(1)));
        assertThat(db.store.counts().waiting(5)).hasSize(2);
        assertThat(db.store.counts().waiting(5).values())
                .extracting(String::valueOf)
                .containsExactly("over 5", "0");
        assertThat(db.store.counts().waiting(StoreFixture.DEFAULT_SOURCE.get(0), 6))
                .hasToString("6");
        assertThat(db.queue.depth("managed", "default")).isEqualTo(6);
        for (int upTo : new int[] {0, -1, 100_001}) {
            assertThatThrownBy(() -> db.store.counts().byKind(upTo)).isInstanceOf(InvalidJobException.class);
        }
    }
}
