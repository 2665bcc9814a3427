package dev.millrace.jooq;

import static dev.millrace.jooq.Tables.CONTROLS;
import static dev.millrace.jooq.Tables.LEASES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.db.Migrator;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The classes carry the schema's default name; each installation maps it to its own. */
@MillraceDatabase
class SchemaMappingTest {

    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

    @ParameterizedTest
    @ValueSource(strings = {"My-Jobs", "odd schema's", "UPPER", "select"})
    void mappedSchema_worksInEachStatement(String schema, TestDatabase database) throws SQLException {
        Migrator.of(database.adminDataSource(), schema).migrate();
        try (Connection connection = database.adminDataSource().getConnection()) {
            DSLContext dsl = DSL.using(connection, SQLDialect.POSTGRES, mappedTo(schema));

            assertThat(upsertLease(dsl, "first", NOON)).isEqualTo(NOON);
            assertThat(upsertLease(dsl, "second", NOON.plusSeconds(1))).isEqualTo(NOON.plusSeconds(1));
            assertThat(lockAndExtend(dsl)).isEqualTo(NOON.plusSeconds(2));
            assertThat(dsl.select(LEASES.OWNER_ID).from(LEASES).fetchSingle().value1())
                    .isEqualTo("second");
            assertThat(dsl.fetchCount(CONTROLS)).isPositive();
            assertThat(dsl.deleteFrom(LEASES).execute()).isOne();

            dsl.dropSchema(DSL.name(schema)).cascade().execute();
        }
    }

    @Test
    void generatedTables_areThoseOfTheMigrations() {
        assertThat(MillraceSchema.MILLRACE.getTables())
                .extracting(Table::getName)
                .containsExactlyInAnyOrder(
                        "controls",
                        "execution_job_log_entries",
                        "execution_job_log_event_identities",
                        "execution_job_log_streams",
                        "execution_jobs",
                        "leases",
                        "result_packages");
    }

    private static Instant upsertLease(DSLContext dsl, String owner, Instant expiry) {
        return dsl.insertInto(LEASES)
                .set(LEASES.LEASE_KEY, "lease")
                .set(LEASES.OWNER_ID, owner)
                .set(LEASES.EXPIRES_AT, expiry)
                .onConflict(LEASES.LEASE_KEY)
                .doUpdate()
                .set(LEASES.OWNER_ID, DSL.excluded(LEASES.OWNER_ID))
                .set(LEASES.EXPIRES_AT, DSL.excluded(LEASES.EXPIRES_AT))
                .where(LEASES.EXPIRES_AT.lt(DSL.excluded(LEASES.EXPIRES_AT)))
                .returning(LEASES.EXPIRES_AT)
                .fetchSingle(LEASES.EXPIRES_AT);
    }

    private static Instant lockAndExtend(DSLContext dsl) {
        var locked = DSL.name("locked")
                .fields("key", "expiry")
                .asMaterialized(DSL.select(LEASES.LEASE_KEY, LEASES.EXPIRES_AT)
                        .from(LEASES)
                        .forNoKeyUpdate()
                        .skipLocked());
        var key = locked.field("key", LEASES.LEASE_KEY.getDataType());
        return dsl.with(locked)
                .update(LEASES)
                .set(LEASES.EXPIRES_AT, DSL.val(NOON.plusSeconds(2), LEASES.EXPIRES_AT))
                .from(locked)
                .where(LEASES.LEASE_KEY.eq(key))
                .returning(LEASES.EXPIRES_AT)
                .fetchSingle(LEASES.EXPIRES_AT);
    }

    private static Settings mappedTo(String schema) {
        return new Settings()
                .withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema().withInput("millrace").withOutput(schema)));
    }
}
