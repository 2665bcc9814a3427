package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.MigrationException.Reason;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.Fault;
import dev.millrace.devdb.FaultyProxy;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Field case A19, of migrations: the server commits, and the migrator is not told. */
@MillraceDatabase
@Timeout(60)
class MigratorLostReplyTest {
    private final Database database;
    private final FaultyProxy proxy;

    MigratorLostReplyTest(TestDatabase neighbour) {
        this.database = neighbour.server().createDatabase("lost_reply_" + UUID.randomUUID());
        this.proxy = FaultyProxy.to(database.jdbcUrl(), database.user(), database.password());
    }

    @AfterEach
    void drop() {
        proxy.close();
        database.drop();
    }

    @Test
    void migrate_whoseCommitsAnswerIsLost_saysSo_andCanBeRepeated() {
        Migrator migrator = Migrator.of(proxy.dataSource());
        proxy.inject(Fault.cutBeforeReply().onStatement("commit"));

        MigrationException failure = catchThrowableOfType(MigrationException.class, migrator::migrate);

        assertThat(proxy.struck()).isEqualTo(1);
        assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(migrator.migrate().versionAfter())
                .isEqualTo(Release.current().schema().toString());
        assertThat(migrator.migrate().appliedCount()).isZero();
    }
}
