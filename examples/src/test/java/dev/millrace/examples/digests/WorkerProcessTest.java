package dev.millrace.examples.digests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.Database;
import dev.millrace.examples.Program;
import java.lang.ProcessBuilder.Redirect;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkerProcessTest {
    @Test
    void whenItsParentIsGone_itEnds() throws Exception {
        Database database = Program.database();
        ProcessBuilder builder = new ProcessBuilder(Program.command(WorkerProcess.class, "orphan", "1", "0"))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD);
        builder.environment().put(WorkerProcess.URL, database.jdbcUrl());
        builder.environment().put(WorkerProcess.USER, database.user());
        builder.environment().put(WorkerProcess.PASSWORD, database.password());
        Process process = builder.start();
        try {
            process.getOutputStream().close(); // what the operating system does when the parent dies

            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(3);
        } finally {
            process.destroyForcibly();
        }
    }
}
