package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

    @Test
    void settings_ofNothing_areAuto() {
        Settings settings = settings(Map.of(), Map.of());

        assertThat(settings.provider()).isEmpty();
        assertThat(settings.url()).isEmpty();
        assertThat(settings.image()).isEqualTo("postgres:18-alpine");
        assertThat(settings.parameters().isEmpty()).isTrue();
        assertThat(settings.pooler()).isEqualTo(Pooler.NONE);
    }

    @Test
    void settings_ofBoth_preferTheProperty() {
        Settings settings = settings(
                Map.of("millrace.devdb", "embedded"),
                Map.of("MILLRACE_DEVDB", "testcontainers", "MILLRACE_DEVDB_IMAGE", "postgres:17"));

        assertThat(settings.provider()).contains(Provider.EMBEDDED);
        assertThat(settings.image()).isEqualTo("postgres:17");
    }

    @Test
    void settings_ofTheEnvironment_areRead() {
        Settings settings = settings(
                Map.of(),
                Map.of(
                        "MILLRACE_DEVDB",
                        "url",
                        "MILLRACE_DEVDB_URL",
                        "jdbc:postgresql://db/x",
                        "MILLRACE_DEVDB_USER",
                        "me",
                        "MILLRACE_DEVDB_PASSWORD",
                        "secret"));

        assertThat(settings.provider()).contains(Provider.URL);
        assertThat(settings.url()).contains("jdbc:postgresql://db/x");
        assertThat(settings.user()).contains("me");
        assertThat(settings.password()).contains("secret");
    }

    @Test
    void settings_ofEmptyValues_areAsIfAbsent() {
        assertThat(settings(Map.of("millrace.devdb", ""), Map.of("MILLRACE_DEVDB_URL", "")))
                .isEqualTo(settings(Map.of(), Map.of()));
    }

    @Test
    void settings_ofUnknownProvider_areRefusedWithWhatIsAllowed() {
        assertRefused(Map.of("millrace.devdb", "docker"))
                .withMessage(
                        "The setting millrace.devdb is \"docker\"; allowed are auto, url, testcontainers, embedded.");
    }

    @Test
    void settings_ofUrlWithoutOne_areRefused() {
        assertRefused(Map.of("millrace.devdb", "url"))
                .withMessageContaining("millrace.devdb is \"url\", but there is no millrace.devdb.url");
    }

    @Test
    void settings_ofAnotherDatabasesUrl_areRefusedWithoutRepeatingIt() {
        assertRefused(Map.of("millrace.devdb.url", "jdbc:mysql://db/x?password=secret"))
                .withMessageContaining("does not start with jdbc:postgresql:")
                .withMessageNotContaining("secret");
    }

    @Test
    void settings_ofWhatIsNoImage_areRefused() {
        assertRefused(Map.of("millrace.devdb.image", "Bad Image"))
                .withMessageContaining("The setting millrace.devdb.image is \"Bad Image\"")
                .withMessageContaining("An example: postgres:18-alpine");
    }

    @Test
    void settings_ofAPasswordWithoutUrl_areRefused() {
        assertRefused(Map.of("millrace.devdb.password", "secret"))
                .withMessageContaining("millrace.devdb.password is given without millrace.devdb.url")
                .withMessageNotContaining("secret");
    }

    @Test
    void role_ofTests_isTheServersUserUnlessItIsTheOwner() {
        assertThat(TestRole.of(Optional.empty())).isEqualTo(TestRole.SERVER);
        assertThat(TestRole.of(Optional.of("server"))).isEqualTo(TestRole.SERVER);
        assertThat(TestRole.of(Optional.of("owner"))).isEqualTo(TestRole.OWNER);
        assertThatExceptionOfType(DevDatabaseException.class)
                .isThrownBy(() -> TestRole.of(Optional.of("Owner")))
                .withMessage("The setting millrace.devdb.role is \"Owner\"; allowed are server, owner.");
    }

    @Test
    void settings_ofAPooler_areRead() {
        assertThat(settings(Map.of(), Map.of("MILLRACE_DEVDB_POOLER", "pgbouncer"))
                        .pooler())
                .isEqualTo(Pooler.PGBOUNCER);
    }

    @Test
    void settings_ofUnknownPooler_areRefusedWithWhatIsAllowed() {
        assertRefused(Map.of("millrace.devdb.pooler", "pgpool"))
                .withMessage("The setting millrace.devdb.pooler is \"pgpool\"; allowed are none, pgbouncer.");
    }

    @Test
    void settings_ofParameters_areReadInTheirOrder() {
        ServerParameters parameters = settings(
                        Map.of("millrace.devdb.parameters", " search_path=a, \"b\";; my.own = it's \\ = odd ;"),
                        Map.of())
                .parameters();

        assertThat(parameters.values())
                .containsExactly(Map.entry("search_path", "a, \"b\""), Map.entry("my.own", "it's \\ = odd"));
        assertThat(parameters.asConfiguration()).isEqualTo("search_path = 'a, \"b\"'\nmy.own = 'it''s \\\\ = odd'\n");
        assertThat(parameters.asArguments())
                .containsExactly("-c", "search_path=a, \"b\"", "-c", "my.own=it's \\ = odd");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jit", "jit on", "=on", "a-b=c", "port=1", "Listen_Addresses=*"})
    void settings_ofWhatIsNoParameter_areRefusedWithWhatIsAllowed(String part) {
        assertRefused(Map.of("millrace.devdb.parameters", "work_mem=1MB; " + part))
                .withMessage("The setting millrace.devdb.parameters has the part \"" + part
                        + "\"; allowed are a server's parameters, but for listen_addresses, port,"
                        + " unix_socket_directories, as in: search_path=nowhere; IntervalStyle=sql_standard");
    }

    private static ThrowableAssertAlternative<DevDatabaseException> assertRefused(Map<String, String> properties) {
        return assertThatExceptionOfType(DevDatabaseException.class).isThrownBy(() -> settings(properties, Map.of()));
    }

    private static Settings settings(Map<String, String> properties, Map<String, String> environment) {
        return Settings.of(properties::get, environment::get);
    }
}
