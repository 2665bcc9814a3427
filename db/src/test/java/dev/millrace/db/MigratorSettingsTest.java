package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.MigrationException.Reason;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class MigratorSettingsTest {

    private final Migrator migrator = Migrator.of(nowhere());

    @Test
    void lockTimeout_outOfRange_isRefusedWithTheValueAndTheRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> migrator.lockTimeout(Duration.ZERO))
                .withMessage("lockTimeout is PT0S; allowed are PT0.001S to PT1H.");
        assertThatIllegalArgumentException().isThrownBy(() -> migrator.lockTimeout(Duration.ofHours(2)));
        assertThat(migrator.lockTimeout(Duration.ofHours(1))).isNotNull();
    }

    @Test
    void lockAttempts_outOfRange_isRefusedWithTheValueAndTheRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> migrator.lockAttempts(0))
                .withMessage("lockAttempts is 0; allowed are 1 to 100.");
        assertThatIllegalArgumentException().isThrownBy(() -> migrator.lockAttempts(101));
    }

    @Test
    void waitForOthers_outOfRange_isRefusedWithTheValueAndTheRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> migrator.waitForOthers(Duration.ofDays(2)))
                .withMessage("waitForOthers is PT48H; allowed are PT0.001S to PT24H.");
    }

    @Test
    void of_null_isRefused() {
        assertThatNullPointerException().isThrownBy(() -> Migrator.of(null)).withMessage("dataSource");
        assertThatNullPointerException()
                .isThrownBy(() -> Migrator.of(nowhere(), null))
                .withMessage("schema");
    }

    @Test
    void of_dataSourceThatCannotConnect_failsOnlyWhenUsed() {
        MigrationException failure = catchThrowableOfType(MigrationException.class, migrator::state);

        assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(failure.schema()).isEqualTo("millrace");
        assertThat(failure.sqlState()).isEqualTo("08001");
    }

    /** Port 1 is reserved and refuses. */
    private static DataSource nowhere() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setServerNames(new String[] {"localhost"});
        dataSource.setPortNumbers(new int[] {1});
        return dataSource;
    }
}
