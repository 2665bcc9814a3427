package dev.millrace.examples.digests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class TerminalTest {
    private static final String PROBE = System.getProperty("java.home") + File.separator + "bin" + File.separator
            + "java -cp '" + System.getProperty("java.class.path") + "' " + TerminalProbe.class.getName();

    @Test
    void pipe_isNone() throws IOException {
        assertThat(outputOf(List.of("sh", "-c", PROBE))).contains("terminal: false");
    }

    @Test
    void terminal_isOne() throws IOException {
        assumeThat(Path.of("/usr/bin/script"))
                .as("the program that lends a terminal")
                .satisfies(script -> assertThat(Files.isExecutable(script)).isTrue());

        assertThat(outputOf(List.of("/usr/bin/script", "-qec", PROBE, "/dev/null")))
                .contains("terminal: true");
    }

    private static String outputOf(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), UTF_8);
    }
}
