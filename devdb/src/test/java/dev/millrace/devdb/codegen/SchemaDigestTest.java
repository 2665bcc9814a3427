package dev.millrace.devdb.codegen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SchemaDigestTest {

    @TempDir
    private Path migrations;

    private SchemaDigest before;

    @BeforeEach
    void twoMigrations() throws IOException {
        Files.writeString(migrations.resolve("V1__a.sql"), "CREATE TABLE a ();\n");
        Files.writeString(migrations.resolve("V2__b.sql"), "CREATE TABLE b ();\n");
        before = digest();
    }

    @Test
    void digest_ofTheSame_isTheSame() throws IOException {
        assertThat(digest()).isEqualTo(before);
        assertThat(before.hex()).matches("[0-9a-f]{64}");
    }

    @Test
    void digest_changesWithTheBytesOfAMigration() throws IOException {
        Files.writeString(migrations.resolve("V2__b.sql"), "CREATE TABLE b ();");

        assertThat(digest()).isNotEqualTo(before);
    }

    @Test
    void digest_changesWithTheNameOfAMigration() throws IOException {
        Files.move(migrations.resolve("V2__b.sql"), migrations.resolve("V2__c.sql"));

        assertThat(digest()).isNotEqualTo(before);
    }

    @Test
    void digest_changesWhereTextMovesFromOneMigrationToTheNext() throws IOException {
        Files.writeString(migrations.resolve("V1__a.sql"), "CREATE TABLE a ();\nCREATE TABLE b ();\n");
        Files.writeString(migrations.resolve("V2__b.sql"), "");

        assertThat(digest()).isNotEqualTo(before);
    }

    @Test
    void digest_changesWithAnotherMigration() throws IOException {
        Files.writeString(migrations.resolve("V3__c.sql"), "");

        assertThat(digest()).isNotEqualTo(before);
    }

    @Test
    void digest_changesWithJooqsVersion() throws IOException {
        assertThat(SchemaDigest.of("3.19.40", migrations)).isNotEqualTo(before);
    }

    @Test
    void digest_isFoundInTheFileItWasWrittenTo() throws IOException {
        Path file = migrations.resolve("schema.digest");
        assertThat(before.isIn(file)).isFalse();

        before.write(file);

        assertThat(before.isIn(file)).isTrue();
        assertThat(new SchemaDigest("0").isIn(file)).isFalse();
    }

    @Test
    void digest_ofNoMigrations_isRefused(@TempDir Path empty) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SchemaDigest.of("3.19.39", empty))
                .withMessageContaining(empty.toString());
    }

    private SchemaDigest digest() throws IOException {
        return SchemaDigest.of("3.19.39", migrations);
    }
}
