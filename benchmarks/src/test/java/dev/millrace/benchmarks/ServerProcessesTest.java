package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerProcessesTest {
    @TempDir
    private Path proc;

    @Test
    void processorTime_isThatOfThePostmasterItsChildrenAndThoseThatHaveEnded() throws IOException {
        stat(10, "postgres", 1, "1 2 30 40");
        stat(11, "postgres: user (a) b [local] idle", 10, "100 200 1000 1000");
        stat(12, "postgres: walwriter", 10, "5 5 0 0");
        stat(13, "of nobody's", 11, "9999 9999 0 0");
        Files.createDirectory(proc.resolve("14")); // has ended
        Files.createDirectory(proc.resolve("self"));
        assertThat(new ServerProcesses(proc, 10).processorMillis()).isEqualTo((73 + 300 + 10) * 10.0);
    }

    private void stat(int pid, String name, int parent, String times) throws IOException {
        Path folder = Files.createDirectory(proc.resolve(Integer.toString(pid)));
        String begin = pid + " (" + name + ") S " + parent + " 10 10 0 -1 4194304 839 7125 0 12 ";
        Files.writeString(folder.resolve("stat"), begin + times + " 20 0 1 0 1178 230 0\n");
    }
}
