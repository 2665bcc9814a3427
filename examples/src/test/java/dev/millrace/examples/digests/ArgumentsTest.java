package dev.millrace.examples.digests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArgumentsTest {
    @TempDir
    Path folder;

    @Test
    void nothing_meansTheHomeOfTheJdk() throws Exception {
        assertThat(Arguments.parse()).isEqualTo(new Arguments(Path.of(System.getProperty("java.home")), false));
    }

    @Test
    void directory_isTaken() throws Exception {
        assertThat(Arguments.parse(folder.toString())).isEqualTo(new Arguments(folder, false));
    }

    @Test
    void help_winsOverAllElse() throws Exception {
        assertThat(Arguments.parse("nowhere", "--help").help()).isTrue();
        assertThat(Arguments.parse("-h").help()).isTrue();
    }

    @Test
    void whatIsNoDirectory_isRefusedWithItsReason() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        assertRefused(file + " is not a directory.", file.toString());
        assertRefused("There is no directory " + folder.resolve("x") + ".", folder + "/x");
        assertRefused("There is no option --fast. A directory of that name is ./--fast.", "--fast");
        assertRefused("Found 2 arguments; expected one directory, or none.", "a", "b");
        assertRefused("\"a\0b\" is no path: Nul character not allowed.", "a\0b");
    }

    private static void assertRefused(String message, String... args) {
        assertThatThrownBy(() -> Arguments.parse(args))
                .isInstanceOf(Arguments.UsageException.class)
                .hasMessage(message);
    }
}
