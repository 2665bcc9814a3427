package dev.millrace.types;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@MillraceDatabase
class EnumColumnsTest {

    private static JobTable table;

    @BeforeAll
    static void connect(TestDatabase database) throws SQLException {
        table = new JobTable(database);
    }

    @AfterAll
    static void close() throws SQLException {
        table.close();
    }

    @ParameterizedTest
    @EnumSource
    void status_isReadAsItWasWritten(JobStatus status) throws SQLException {
        assertThat(table.writeAndRead(EXECUTION_JOBS.STATUS, status)).isEqualTo(status);
        assertThat(table.asPrinted("status")).isEqualTo(status.literal());
    }

    @ParameterizedTest
    @EnumSource
    void priority_isReadAsItWasWritten(Priority priority) throws SQLException {
        assertThat(table.writeAndRead(EXECUTION_JOBS.PRIORITY, priority)).isEqualTo(priority);
        assertThat(table.asPrinted("priority")).isEqualTo(String.valueOf(priority.code()));
    }

    @Test
    void inlinedStatus_isItsLiteral() {
        assertThat(table.dsl().render(EXECUTION_JOBS.STATUS.eq(DSL.inline(JobStatus.QUEUED, EXECUTION_JOBS.STATUS))))
                .endsWith("\"status\" = 'Queued'");
    }

    @Test
    void queuePriority_mayBeNull() {
        assertThat(table.read(EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
    }

    @Test
    void unknownValues_areRefusedWithThoseThatAreKnown() {
        assertThatThrownBy(() -> table.dsl()
                        .select(DSL.inline("Paused").coerce(EXECUTION_JOBS.STATUS))
                        .fetch())
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .hasMessageContaining("\"Paused\"")
                .hasMessageContaining("Queued, Provisioning");
        assertThatThrownBy(() -> new PriorityConverter().from((short) 7)).hasMessageContaining("Critical (0)");
    }
}
