package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CoordinatesTest {

    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://localhost:5432/postgres, jdbc:postgresql://localhost:5432/a+b%2Fc",
        "jdbc:postgresql://localhost/postgres?ssl=true&options=-c%20x, "
                + "jdbc:postgresql://localhost/a+b%2Fc?ssl=true&options=-c%20x",
        "jdbc:postgresql://[::1]:5432, jdbc:postgresql://[::1]:5432/a+b%2Fc",
        "jdbc:postgresql://one:1;two:2/x?targetServerType=primary, "
                + "jdbc:postgresql://one:1;two:2/a+b%2Fc?targetServerType=primary",
        "jdbc:postgresql:postgres, jdbc:postgresql:a+b%2Fc",
        "jdbc:postgresql:?user=me, jdbc:postgresql:a+b%2Fc?user=me"
    })
    void inDatabase_replacesTheDatabaseAndNothingElse(String url, String expected) {
        Coordinates changed = new Coordinates(url.replace(";", ","), "me", "secret").inDatabase("a b/c");

        assertThat(changed).isEqualTo(new Coordinates(expected.replace(";", ","), "me", "secret"));
        assertThat(changed.databaseName()).isEqualTo("a b/c");
    }
}
