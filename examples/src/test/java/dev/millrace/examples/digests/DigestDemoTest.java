package dev.millrace.examples.digests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.examples.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DigestDemoTest {
    private static final Pattern SUMMARY = Pattern.compile(
            "(\\d+) files, (\\d+) jobs, (\\d+) attempts, (\\d+) jobs? ran again after the kill, (\\d+) lost, [\\d.]+ s");

    @TempDir
    Path folder;

    @Test
    void killedWorkersJobs_runAgain_andNothingIsLost() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        SomeFiles.create(folder, 250, random);
        Files.write(folder.resolve("large"), SomeFiles.bytes(20_000_000, random));
        Files.createSymbolicLink(folder.resolve("link to itself"), folder);

        Program.Result result = Program.run(DigestDemo.class, folder.toString()).hasExitCode(DigestDemo.ALL_IS_WELL);

        assertThat(result.out())
                .as("seed %s", seed)
                .contains("251 files (left out: 1 symbolic link, 0 unreadable)")
                .contains("Submitted 251 jobs.")
                .contains("Compared 251 digests with a direct computation: 251 equal, 0 different.")
                .doesNotContain("\r", "\u001b");
        Matcher summary = SUMMARY.matcher(result.out());
        assertThat(summary.find()).as(result.out()).isTrue();
        assertThat(summary.group(1)).isEqualTo("251");
        assertThat(summary.group(2)).isEqualTo("251");
        int attempts = Integer.parseInt(summary.group(3));
        int ranAgain = Integer.parseInt(summary.group(4));
        assertThat(ranAgain).isBetween(1, 8);
        assertThat(result.out())
                .contains("Killed worker-1 (exit code 137) while it held " + Text.count(ranAgain, "job"));
        assertThat(attempts).isGreaterThanOrEqualTo(251 + ranAgain);
        assertThat(summary.group(5)).isEqualTo("0");
    }

    @Test
    void falsifiedDigestAndRemovedOne_areFound_alsoAmongFewFiles() throws Exception {
        for (String name : new String[] {"falsified", "removed", "untouched"}) {
            Files.writeString(folder.resolve(name), name);
        }

        Program.Result result =
                Program.run(TamperedDemo.class, folder.toString()).hasExitCode(DigestDemo.FAILED);

        assertThat(result.out())
                .containsPattern("3 files, 3 jobs, \\d+ attempts, \\d jobs? ran again after the kill, 1 lost")
                .contains("Compared 2 digests with a direct computation: 1 equal, 1 different.");
        assertThat(result.err())
                .containsPattern("Lost: job [0-9a-f-]{36}, SUCCEEDED")
                .contains("Different: " + folder.toRealPath().resolve("falsified"));
    }

    @Test
    void directoryThatIsNotThere_isRefused() throws Exception {
        Path nowhere = folder.resolve("nowhere");

        Program.Result result =
                Program.run(DigestDemo.class, nowhere.toString()).hasExitCode(DigestDemo.UNUSABLE_ARGUMENTS);

        assertThat(result.out()).isEmpty();
        assertThat(result.err().lines())
                .containsExactly("There is no directory " + nowhere + ".", "Call it with --help to see what it takes.");
    }

    @Test
    void emptyDirectory_isRefused() throws IOException, InterruptedException {
        assertThat(new DigestDemo(dsl -> {}).run(folder.toString())).isEqualTo(DigestDemo.UNUSABLE_ARGUMENTS);
    }
}
