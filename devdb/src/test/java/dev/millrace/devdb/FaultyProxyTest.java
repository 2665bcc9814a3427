package dev.millrace.devdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

@MillraceDatabase
@Timeout(60)
class FaultyProxyTest {
    private final TestDatabase database;
    private final FaultyProxy proxy;
    private final String table;
    private final String insert;

    FaultyProxyTest(TestDatabase database) {
        this.database = database;
        this.proxy = FaultyProxy.before(database);
        this.table = "\"" + database.schema() + "\".\"t" + UUID.randomUUID() + "\"";
        this.insert = "INSERT INTO " + table + " VALUES (1)";
    }

    @BeforeEach
    void createTable() throws SQLException {
        execute("CREATE TABLE " + table + " (a int)");
    }

    @AfterEach
    void close() throws SQLException {
        proxy.close();
        execute("DROP TABLE " + table);
    }

    @Test
    void healthyProxy_letsAllPass() throws SQLException {
        try (Connection connection = proxy.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT repeat(?, 100000)")) {
            for (int i = 0; i < 10; i++) {
                statement.setString(1, "x");
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    assertThat(row.getString(1)).hasSize(100_000);
                }
            }
        }
        assertThat(proxy.connections()).isEqualTo(1);
        assertThat(proxy.struck()).isZero();
    }

    @Test
    void cutBeforeRequest_doesNothing() throws SQLException {
        proxy.inject(Fault.cutBeforeRequest());
        assertConnectionFails();
        assertThat(rows()).isZero();
    }

    @Test
    void cutBeforeReply_hasDoneIt() throws SQLException {
        proxy.inject(Fault.cutBeforeReply());
        assertConnectionFails();
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void stall_doesItLate_alsoForAClientThatHasGivenUp() throws Exception {
        proxy.inject(Fault.stall(Duration.ofMillis(1_500)));
        PGSimpleDataSource impatient = proxy.dataSource();
        impatient.setSocketTimeout(1);
        try (Connection connection = impatient.getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute(insert)).hasRootCauseInstanceOf(SocketTimeoutException.class);
        }
        assertThat(rows()).isZero();
        proxy.awaitHeldRequests(Duration.ofSeconds(30));
        assertThat(rows()).isEqualTo(1);
    }

    /** A pooler takes the end of the connection for a client that has gone, whose statement it breaks off. */
    @Test
    void stalledRequest_isAnswered_beforeTheServerHearsThatItsClientHasGone() throws Exception {
        byte[] startup = message(0, new byte[] {0, 3, 0, 0});
        byte[] query = message('Q', (insert + "\0").getBytes(UTF_8));
        byte[] ready = message('Z', new byte[] {'I'});
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                FaultyProxy before =
                        FaultyProxy.to("jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + "/d", "u", "p")) {
            before.inject(Fault.stall(Duration.ofMillis(100)));
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), before.port())) {
                client.getOutputStream().write(startup, 1, startup.length - 1);
                client.getOutputStream().write(query);
            }
            try (Socket pooler = listener.accept()) {
                InputStream in = pooler.getInputStream();
                assertThat(in.readNBytes(startup.length - 1 + query.length)).endsWith(query);
                pooler.setSoTimeout(300);
                assertThatThrownBy(in::read).as("the end").isInstanceOf(SocketTimeoutException.class);
                pooler.getOutputStream().write(ready);
                pooler.setSoTimeout(30_000);
                assertThat(in.read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void shortStall_isOnlySlow() throws SQLException {
        proxy.inject(Fault.stall(Duration.ofMillis(100)));
        insert();
        assertThat(rows()).isEqualTo(1);
        assertThat(proxy.struck()).isEqualTo(1);
    }

    @Test
    void halfOpen_saysNothing_andDoesNothing() throws SQLException {
        proxy.inject(Fault.halfOpen());
        PGSimpleDataSource impatient = proxy.dataSource();
        impatient.setSocketTimeout(1);
        try (Connection connection = impatient.getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute(insert)).hasRootCauseInstanceOf(SocketTimeoutException.class);
        }
        assertThat(rows()).isZero();
    }

    @Test
    void refusal_keepsOthersOut_notThoseWhoAreIn() throws SQLException {
        try (Connection connection = proxy.dataSource().getConnection()) {
            proxy.refuseConnections();
            assertThatThrownBy(this::insert)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"));
            assertThat(connection.isValid(10)).isTrue();
            proxy.cutConnections();
            assertThat(connection.isValid(10)).isFalse();
        }
        proxy.heal();
        insert();
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void fault_strikesTheStatementThatItNames_asOftenAsItSays() throws SQLException {
        proxy.inject(
                Fault.cutBeforeRequest().onStatement("insert into").skipping(1).times(2));
        insert();
        rows();
        assertConnectionFails();
        assertConnectionFails();
        insert();
        assertThat(rows()).isEqualTo(2);
        assertThat(proxy.struck()).isEqualTo(2);
    }

    /** The driver sends the text of a statement only until it has prepared it. */
    @Test
    void statementThatIsPrepared_isStillKnownByItsText() throws SQLException {
        try (Connection connection = proxy.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("INSERT INTO " + table + " VALUES (?)")) {
            if (statement.unwrap(org.postgresql.PGStatement.class).getPrepareThreshold() > 0) {
                connection.unwrap(PGConnection.class).setPrepareThreshold(1);
            }
            for (int i = 0; i < 10; i++) {
                statement.setInt(1, i);
                statement.execute();
            }
            proxy.inject(Fault.cutBeforeReply().onStatement(table));
            statement.setInt(1, 10);
            assertThatThrownBy(statement::execute).isInstanceOf(SQLException.class);
        }
        assertThat(rows()).isEqualTo(11);
    }

    private static byte[] message(int type, byte[] body) {
        return ByteBuffer.allocate(5 + body.length)
                .put((byte) type)
                .putInt(4 + body.length)
                .put(body)
                .array();
    }

    private void assertConnectionFails() {
        assertThatThrownBy(this::insert)
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).startsWith("08"));
    }

    private void insert() throws SQLException {
        try (Connection connection = proxy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(insert);
        }
    }

    private int rows() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM " + table)) {
            row.next();
            return row.getInt(1);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
