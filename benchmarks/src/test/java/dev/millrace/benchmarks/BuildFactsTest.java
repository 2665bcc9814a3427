package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.jooq.Constants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.util.DriverInfo;

class BuildFactsTest {
    @Test
    void versions_areThoseOnTheClassPath() throws Exception {
        assertThat(BuildFacts.libraries())
                .containsEntry("jooq", Constants.FULL_VERSION)
                .containsEntry("postgresql", DriverInfo.DRIVER_VERSION)
                .containsKeys("millrace", "HikariCP", "db-scheduler", "jobrunr", "quartz")
                .doesNotContainValue(BuildFacts.NOT_KNOWN);
    }

    @Test
    void commit_isNotThatOfARepositoryAround(@TempDir Path sources) throws Exception {
        assertThat(BuildFacts.commitOf(sources)).isEqualTo(BuildFacts.NOT_KNOWN);
        assertThat(BuildFacts.commitOf(Path.of("src"))).isEqualTo(BuildFacts.NOT_KNOWN);
        assertThat(BuildFacts.commit()).matches("[0-9a-f]{12}(, changed)?|" + BuildFacts.NOT_KNOWN);
    }
}
