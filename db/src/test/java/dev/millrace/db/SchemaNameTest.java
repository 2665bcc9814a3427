package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaNameTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "millrace",
                "My-Jobs",
                "Odd Schema",
                " ",
                "it's",
                "a.b",
                "$x{",
                "pgjobs",
                "PG_jobs",
                "naïve",
                "漢字",
                "a123456789012345678901234567890123456789012345678901234567890bc"
            })
    void schemaName_ofAnyIdentifier_isTakenAsItIs(String name) {
        assertThat(new SchemaName(name).value()).isEqualTo(name);
        assertThat(new SchemaName(name).quoted()).isEqualTo("\"" + name + "\"");
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of("", "is empty"),
                Arguments.of("x".repeat(64), "has 64 bytes"),
                Arguments.of("漢".repeat(22), "has 66 bytes"),
                Arguments.of("a\0b", "contains a NUL character"),
                Arguments.of("a\"b", "contains a double quote"),
                Arguments.of("a${b", "contains \"${\""),
                Arguments.of("pg_jobs", "starts with pg_"),
                Arguments.of("information_schema", "belongs to PostgreSQL"),
                Arguments.of("a\ud800", "contains half of a surrogate pair"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void schemaName_ofWhatCannotBeUsed_isRefusedWithWhatWasFoundAndWhatIsAllowed(String name, String found) {
        InvalidSchemaNameException refusal =
                catchThrowableOfType(InvalidSchemaNameException.class, () -> new SchemaName(name));

        assertThat(refusal)
                .hasMessageContaining(found)
                .hasMessageContaining("Allowed are 1 to 63 bytes")
                .hasMessageContaining("Choose another name");
        assertThat(refusal.schema()).isEqualTo(name);
    }

    @Test
    void schemaName_ofNull_isRefused() {
        assertThatNullPointerException().isThrownBy(() -> new SchemaName(null)).withMessage("schema");
    }
}
