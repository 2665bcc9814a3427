package dev.millrace.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What the report says of versions is what is run. */
class VersionsTest {
    @Test
    void versions_onTheJvm_areThoseOfThePom() throws Exception {
        assertThat(Files.readString(Path.of("pom.xml")))
                .contains("<db-scheduler.version>" + Contenders.DB_SCHEDULER_VERSION + "<")
                .contains("<jobrunr.version>" + Contenders.JOBRUNR_VERSION + "<")
                .contains("<quartz.version>" + Contenders.QUARTZ_VERSION + "<");
    }

    @Test
    void versions_onNode_areThoseOfThePackages() throws Exception {
        assertThat(resource("package.json"))
                .contains("\"pg-boss\": \"" + Contenders.PG_BOSS_VERSION + "\"")
                .contains("\"graphile-worker\": \"" + Contenders.GRAPHILE_WORKER_VERSION + "\"");
    }

    /** npm takes packages from wherever it is set up to take them; the lock file has what they have to be. */
    @Test
    void lockFile_namesNoRegistry() throws Exception {
        assertThat(resource("package-lock.json")).contains("\"integrity\":").doesNotContain("\"resolved\":");
    }

    private static String resource(String name) throws Exception {
        try (InputStream file = VersionsTest.class.getResourceAsStream("/peers-node/" + name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
