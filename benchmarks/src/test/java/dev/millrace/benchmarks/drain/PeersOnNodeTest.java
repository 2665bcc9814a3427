package dev.millrace.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Runs;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.peers.Contender;
import dev.millrace.benchmarks.peers.Contenders;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only where the packages are installed already: a build does not go and get them. The others are among the smoke tests. */
class PeersOnNodeTest {
    private static final Path NODE = Path.of("target", "benchmarks-node").toAbsolutePath();
    private static final Set<String> NAMES = Set.of("pg-boss tuned", "graphile-worker tuned");

    @TempDir
    private Path folder;

    @Test
    void drain_onNode_isFinishedInTheirTables() throws Exception {
        assumeTrue(installed(), "There are no packages for Node");
        List<Contender> some = Contenders.here(NODE).drain().stream()
                .filter(contender -> NAMES.contains(contender.name()))
                .toList();
        assertThat(some).hasSameSizeAs(NAMES);
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        FamilyResults results = new Runs(null, Size.TINY, folder, nowhere).run(new DrainFamily(some));
        assertThat(results.measurements("drain")).hasSize(2).allMatch(drain -> drain.median() > 0);
        assertThat(results.targets()).isEmpty();
    }

    /** Those of the lock file of this build: others would be replaced. */
    private static boolean installed() throws IOException {
        Path installed = NODE.resolve("installed");
        try (InputStream wanted = PeersOnNodeTest.class.getResourceAsStream("/peers-node/package-lock.json")) {
            return Files.exists(installed) && Arrays.equals(Files.readAllBytes(installed), wanted.readAllBytes());
        }
    }
}
