package dev.millrace.devdb.codegen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GenerateJooqTest {

    private static final Path MIGRATIONS = Path.of("../db/src/main/resources/dev/millrace/db/migration");
    private static final String CLASSES = "src/main/java/dev/millrace/jooq";

    @TempDir
    private static Path generated;

    @TempDir
    private Path module;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @BeforeAll
    static void generateOnce() throws Exception {
        new GenerateJooqTest().run("always", generated);
    }

    @BeforeEach
    void copyTheGeneratedModule() throws Exception {
        SourceTree.read(generated).replace(module);
    }

    @Test
    void always_writesClassesAndDigest() {
        assertThat(module.resolve(CLASSES).resolve("tables/ExecutionJobs.java"))
                .content()
                .contains("TableField<ExecutionJobsRecord, Duration> MAX_DURATION", "new DurationBinding()")
                .contains("How long\n     * one attempt may take.")
                .doesNotContain("millrace_codegen");
        assertThat(module.resolve(CLASSES).resolve("MillraceSchema.java"))
                .content()
                .contains("super(\"millrace\", null)");
        assertThat(module.resolve("schema.digest")).exists();
    }

    @Test
    void ifChanged_withTheSameDigest_changesNothing() throws Exception {
        Path edited = module.resolve(CLASSES).resolve("Keys.java");
        Files.writeString(edited, "edited");

        run("if-changed", module);

        assertThat(edited).hasContent("edited");
        assertThat(printed()).isEmpty();
    }

    @Test
    void ifChanged_withAnotherDigest_generates() throws Exception {
        SourceTree before = SourceTree.read(module.resolve("src"));
        Files.writeString(module.resolve("schema.digest"), "another");
        Files.writeString(module.resolve(CLASSES).resolve("Gone.java"), "of a table that was dropped");

        run("if-changed", module);

        assertThat(SourceTree.read(module.resolve("src"))).isEqualTo(before);
        assertThat(Files.readString(module.resolve("schema.digest"))).isNotEqualTo("another");
        assertThat(printed()).contains("changed");
    }

    @Test
    void check_ofCurrentClasses_saysSo() throws Exception {
        run("check", module);

        assertThat(printed()).isEqualTo("The generated classes are those of the migrations." + System.lineSeparator());
    }

    @Test
    void check_ofOtherClasses_failsWithTheDifferenceAndTheCommand() throws Exception {
        Path table = module.resolve(CLASSES).resolve("tables/Leases.java");
        String edited = Files.readString(table).replace("owner_id", "holder_id");
        Files.writeString(table, edited);
        Files.delete(module.resolve(CLASSES).resolve("Keys.java"));

        assertThatIllegalStateException()
                .isThrownBy(() -> run("check", module))
                .withMessageContaining("./mvnw -q -Pcodegen process-classes -pl generated -am");
        assertThat(printed())
                .contains("--- /dev/null", "+++ Keys.java")
                .contains("--- tables/Leases.java")
                .containsPattern("-.*DSL.name\\(\"holder_id\"\\)")
                .containsPattern("\\+.*DSL.name\\(\"owner_id\"\\)");
        assertThat(table).hasContent(edited);
    }

    @Test
    void check_ofOtherDigest_failsWithTheCommand() throws Exception {
        Files.writeString(module.resolve("schema.digest"), "another");

        assertThatIllegalStateException()
                .isThrownBy(() -> run("check", module))
                .withMessageContaining("schema.digest is out of date")
                .withMessageContaining("./mvnw -q -Pcodegen process-classes -pl generated -am");
    }

    @Test
    void wrongArguments_areRefusedWithThoseThatAreRight() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> run("sometimes", module))
                .withMessageContaining("\"sometimes\"")
                .withMessageContaining("if-changed, always, check");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GenerateJooq.main(new String[] {"always"}))
                .withMessageContaining("Found 1 arguments");
    }

    private void run(String when, Path module) throws Exception {
        String[] arguments = {when, "3.19.39", MIGRATIONS.toString(), module.toString()};
        GenerateJooq.run(arguments, new PrintStream(printed, true, UTF_8));
    }

    private String printed() {
        return printed.toString(UTF_8);
    }
}
