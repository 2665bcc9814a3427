package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A connection that stays between statements: which one that is, and when it isn't kept. */
@MillraceDatabase
class KeptConnectionTest {
    private static final Duration LIMIT = Duration.ofSeconds(7);

    private final HikariDataSource pool;
    private final KeptConnection kept;
    private final OwnConnections connections;

    KeptConnectionTest(TestDatabase database) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setMaximumPoolSize(3);
        pool = new HikariDataSource(config);
        kept = new KeptConnection(new OwnConnections(pool), LIMIT);
        connections = kept.connections();
    }

    @AfterEach
    void close() {
        pool.close();
    }

    private int inUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    @Test
    void connection_staysBetweenStatements_withItsLimit() throws SQLException {
        kept.reserve();
        assertThat(inUse()).isOne();
        Connection first = connections.acquire();
        assertThat(first.getNetworkTimeout()).isEqualTo((int) LIMIT.toMillis());
        connections.release(first);
        assertThat(connections.acquire()).isSameAs(first);
        assertThat(inUse()).isOne();
    }

    @Test
    void othersThatCome_whileItIsInUse_goBackToThePool_inWhateverOrder() throws SQLException {
        kept.reserve();
        Connection mine = connections.acquire();
        Connection other = connections.acquire();
        assertThat(other).isNotSameAs(mine);
        connections.release(other);
        assertThat(inUse()).as("the other one is given back").isOne();
        connections.release(mine);
        assertThat(inUse()).as("mine is kept").isOne();
        assertThat(connections.acquire()).isSameAs(mine);
        Connection next = connections.acquire();
        connections.release(mine);
        assertThat(next.getNetworkTimeout()).as("of one that was never kept").isZero();
        connections.release(next);
        assertThat(inUse()).isOne();
    }

    @Test
    void connectionThatBroke_isReplaced_whateverItsPoolSaysOfIt() throws SQLException {
        kept.reserve();
        Connection broken = connections.acquire();
        connections.discard(broken);
        connections.release(broken);
        Connection next = connections.acquire();
        assertThat(next).isNotSameAs(broken);
        assertThat(next.isValid(5)).isTrue();
        connections.release(next);
        assertThat(connections.acquire()).isSameAs(next);
    }

    @Test
    void close_givesItBack_asItWas_alsoIfItIsInUse() throws SQLException {
        kept.reserve();
        Connection mine = connections.acquire();
        kept.close();
        assertThat(inUse()).isOne();
        connections.release(mine);
        assertThat(inUse()).isZero();
        Connection later = connections.acquire();
        assertThat(later.getNetworkTimeout()).isZero();
        connections.release(later);
        assertThat(inUse()).as("nothing is kept any more").isZero();
    }
}
