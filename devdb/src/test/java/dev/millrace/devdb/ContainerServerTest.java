package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.github.dockerjava.api.exception.InternalServerErrorException;
import com.github.dockerjava.api.exception.NotFoundException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.testcontainers.DockerClientFactory;

/** Where containers are asked for, one must come: there is nothing in here that skips for want of an engine. */
@EnabledIfEnvironmentVariable(
        named = "MILLRACE_DEVDB",
        matches = "testcontainers",
        disabledReason = "No containers are asked for: MILLRACE_DEVDB is not testcontainers.")
@Timeout(120)
class ContainerServerTest {

    /** Nobody listens there, so an engine that wants to pull from it is refused at once, wherever it runs. */
    private static final String IMAGE_OF_NO_REGISTRY = "localhost:1/postgres:18";

    private static DevDatabase server;

    @BeforeAll
    static void start() {
        server = DevDatabase.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @Test
    void description_ofContainer_saysWhatIsUsedAndWhy() {
        assertThat(server.provider()).isEqualTo(Provider.TESTCONTAINERS);
        assertThat(server.description())
                .matches("Using PostgreSQL \\d+\\.\\d+ in a container of "
                        + Settings.ofSurroundings().image() + " on port " + server.port()
                        + " \\(millrace\\.devdb is testcontainers\\)");
    }

    @Test
    void container_isSetUpLikeTheEmbeddedServer() throws SQLException {
        assertThat(query("SHOW fsync")).isEqualTo("on");
        assertThat(query("SHOW max_connections")).isEqualTo("300");
        assertThat(query("SHOW server_encoding")).isEqualTo("UTF8");
        assertThat(query("SELECT 'B' < 'a'")).isEqualTo("t");
    }

    @Test
    void stopAndStartAgain_areRefused() {
        for (Runnable control : new Runnable[] {() -> server.stop(StopMode.FAST), server::startAgain}) {
            ServerNotControllableException refusal =
                    catchThrowableOfType(ServerNotControllableException.class, control::run);

            assertThat(refusal.provider()).isEqualTo(Provider.TESTCONTAINERS);
            assertThat(refusal).hasMessageContaining("another port").hasMessageContaining("Provider.EMBEDDED");
        }
        assertThat(server.isRunning()).isTrue();
    }

    @Test
    void close_endsTheContainer() {
        DevDatabase own = DevDatabase.start(Provider.TESTCONTAINERS);
        String id = ((ContainerServer) own.server()).containerId();

        own.close();

        assertThat(own.isRunning()).isFalse();
        assertThatThrownBy(() -> DockerClientFactory.instance()
                        .client()
                        .inspectContainerCmd(id)
                        .exec())
                .isInstanceOf(NotFoundException.class);
    }

    @Test
    void start_whereTheImageCannotBePulled_saysWhyAndWhatToDoWithoutTryingForMinutes() {
        assertThatThrownBy(() -> DevDatabase.start(settings("testcontainers"), Flushing.ON))
                .isInstanceOf(NoContainerException.class)
                .hasMessageContaining("there is no image " + IMAGE_OF_NO_REGISTRY + ", and it can't be pulled: ")
                .hasMessageContaining("the setting millrace.devdb.image, or set millrace.devdb to embedded")
                .hasCauseInstanceOf(InternalServerErrorException.class);
    }

    @Test
    void startOfAny_whereTheImageCannotBePulled_takesAnEmbeddedServerWithoutTryingForMinutes() {
        try (DevDatabase other = DevDatabase.start(settings("auto"), Flushing.ON)) {
            assertThat(other.description())
                    .startsWith("Using embedded PostgreSQL ")
                    .contains("a Docker engine answered, but there is no image " + IMAGE_OF_NO_REGISTRY
                            + ", and it can't be pulled: ");
        }
    }

    private static Settings settings(String provider) {
        return Settings.of(
                Map.of(Settings.PROVIDER, provider, Settings.IMAGE, IMAGE_OF_NO_REGISTRY)::get,
                Map.<String, String>of()::get);
    }

    private static String query(String sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
