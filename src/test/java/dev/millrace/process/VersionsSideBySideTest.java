package dev.millrace.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.Database;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.PastAttempt;
import dev.millrace.types.JobStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/**
 * Processes of this build and of the previous one, in the schema of this one: they submit, run, retry and recover each
 * other's jobs. The class path of the previous build comes from the CI leg {@code previous-build}; without it both are of
 * this build, and what is rehearsed is the rehearsal.
 */
@MillraceDatabase
@Timeout(180)
class VersionsSideBySideTest {
    private static final String PROPERTY = "millrace.previous.classpath";
    private static final String PREVIOUS = System.getProperty(PROPERTY, System.getProperty("java.class.path"));
    private static final int JOBS = 40;
    private static final int HELD = 4;
    private static final int NODES = 8;

    private final TestDatabase database;
    private final Scene scene;

    VersionsSideBySideTest(TestDatabase database) {
        this.database = database;
        this.scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    private ChildJvm current(String name) {
        return scene.start(RehearsalNode.class, name);
    }

    private ChildJvm previous(String name) {
        return scene.closing(ChildJvm.start(RehearsalNode.class, PREVIOUS, scene.place, name));
    }

    /** Each build's node holds jobs of the other one and is killed; each build's other node carries them on. */
    @Test
    void jobsOfBothBuilds_areRunByBoth_andCarriedOnByTheOther() throws InterruptedException {
        ChildJvm oldDoomed = previous("old-doomed");
        ChildJvm newDoomed = current("new-doomed");
        ChildJvm oldNode = previous("old");
        ChildJvm newNode = current("new");
        List<ChildJvm> all = List.of(oldDoomed, newDoomed, oldNode, newNode);
        all.forEach(ChildJvm::awaitReady);
        assertBuildsAreWhatTheyShouldBe(oldNode, newNode);

        List<String> heldByOld = submit(newNode, "held-by-old", "hang", HELD);
        List<String> heldByNew = submit(oldNode, "held-by-new", "hang", HELD);
        oldDoomed.order("work held-by-old");
        newDoomed.order("work held-by-new");
        heldByOld.forEach(id -> oldDoomed.awaitEvent("began " + id + " 1"));
        heldByNew.forEach(id -> newDoomed.awaitEvent("began " + id + " 1"));
        oldDoomed.kill();
        newDoomed.kill();
        oldNode.order("work held-by-new");
        newNode.order("work held-by-old");
        for (String id : heldByOld) {
            assertCarriedOn(id, "old-doomed", "new");
        }
        for (String id : heldByNew) {
            assertCarriedOn(id, "new-doomed", "old");
        }

        assertBothDrain(oldNode, newNode);
        assertThat(scene.jobs()).hasSize(2 * HELD + 4 * JOBS);
    }

    private void assertBothDrain(ChildJvm oldNode, ChildJvm newNode) throws InterruptedException {
        List<String> naps = new ArrayList<>();
        List<String> failing = new ArrayList<>();
        ChildJvm oldWorker = previous("old-worker").awaitReady();
        ChildJvm newWorker = current("new-worker").awaitReady();
        oldWorker.order("work both");
        newWorker.order("work both");
        for (ChildJvm node : List.of(oldNode, newNode)) {
            naps.addAll(submit(node, "both", "nap", JOBS));
            failing.addAll(submit(node, "both", "fail", JOBS));
        }
        for (String id : naps) {
            Job job = scene.awaitEnd(id);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.state().attemptCount()).isOne();
            assertThat(job.outcome().history()).isEmpty();
        }
        for (String id : failing) {
            Job job = scene.awaitEnd(id);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.state().attemptCount()).isEqualTo(2);
            assertThat(job.outcome().history())
                    .extracting(PastAttempt::ending)
                    .containsExactly(PastAttempt.Ending.RETRIED);
        }
        int attempts =
                oldWorker.events("began").size() + newWorker.events("began").size();
        assertThat(attempts).isEqualTo(naps.size() + 2 * failing.size());
        assertThat(oldWorker.events("began")).isNotEmpty();
        assertThat(newWorker.events("began")).isNotEmpty();
    }

    private static List<String> submit(ChildJvm node, String queue, String what, int number) {
        List<String> before = node.events("submitted");
        node.order("submit " + queue + " " + what + " " + number);
        Scene.until(() -> node.events("submitted").size() == before.size() + number);
        return node.events("submitted").stream()
                .skip(before.size())
                .map(event -> event.substring("submitted ".length()))
                .toList();
    }

    private void assertCarriedOn(String id, String from, String by) throws InterruptedException {
        Job job = scene.awaitEnd(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().claimedBy()).isEqualTo(by);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(job.outcome().history()).singleElement().satisfies(past -> {
            assertThat(past.ending()).isEqualTo(PastAttempt.Ending.EXPIRED);
            assertThat(past.worker()).isEqualTo(from);
        });
    }

    private static void assertBuildsAreWhatTheyShouldBe(ChildJvm oldNode, ChildJvm newNode) {
        String oldBuild = oldNode.awaitEvent("ready");
        String newBuild = newNode.awaitEvent("ready");
        if (System.getProperty(PROPERTY) != null) {
            assertThat(oldBuild).isNotEqualTo(newBuild);
        }
    }

    /** Field case A16, with whole nodes: all of them migrate an empty database, and work. */
    @Test
    @DisabledIfSystemProperty(named = PROPERTY, matches = ".*", disabledReason = "is about one build")
    void nodesThatStartTogether_onAnEmptyDatabase_migrateItOnce_andWork() throws InterruptedException {
        Database empty = database.server().createDatabase("together_" + System.nanoTime());
        Place place = new Place(empty.jdbcUrl(), empty.user(), empty.password(), "My-Jobs");
        try (Scene elsewhere = new Scene(place)) {
            List<ChildJvm> nodes = Stream.iterate(1, i -> i + 1)
                    .limit(NODES)
                    .map(i -> elsewhere.start(RehearsalNode.class, "node-" + i))
                    .toList();
            nodes.forEach(node -> {
                node.order("migrate");
                node.order("work all");
                node.order("submit all nap 5");
            });
            nodes.forEach(node -> Scene.until(() -> node.events("submitted").size() == 5));
            assertThat(nodes.stream().mapToInt(VersionsSideBySideTest::applied).sum())
                    .isEqualTo(applied(nodes.get(0), 1));
            for (ChildJvm node : nodes) {
                for (String event : node.events("submitted")) {
                    Job job = elsewhere.awaitEnd(event.substring("submitted ".length()));
                    assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
                    assertThat(job.state().attemptCount()).isOne();
                }
            }
        } finally {
            empty.drop();
        }
    }

    private static int applied(ChildJvm node) {
        return applied(node, 2);
    }

    private static int applied(ChildJvm node, int word) {
        return Integer.parseInt(node.awaitEvent("migrated").split(" ", -1)[word]);
    }
}
