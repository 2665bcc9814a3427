package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What holds for every table that the migrations make. */
@MillraceDatabase
class SchemaTest {

    private final TestDatabase database;

    SchemaTest(TestDatabase database) {
        this.database = database;
    }

    @Test
    void everyTableAndColumn_hasAComment() throws SQLException {
        assertThat(query("""
                        SELECT c.relname, a.attname
                          FROM pg_class AS c
                          JOIN pg_namespace AS n ON n.oid = c.relnamespace
                          JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped AND a.attnum >= 0
                               OR a.attrelid = c.oid AND a.attname = 'tableoid'
                          LEFT JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass
                               AND d.objsubid = greatest(a.attnum, 0)
                         WHERE n.nspname = '%s' AND c.relkind IN ('r', 'p', 'v') AND c.relname <> '%s'
                           AND coalesce(d.description, '') = ''
                        """.formatted(database.schema(), Migrations.HISTORY_TABLE)))
                .as("tables (as tableoid) and columns without a comment")
                .isEmpty();
    }

    @Test
    void everyTable_hasAPrimaryKey() throws SQLException {
        assertThat(query("""
                        SELECT c.relname
                          FROM pg_class AS c
                          JOIN pg_namespace AS n ON n.oid = c.relnamespace
                         WHERE n.nspname = '%s' AND c.relkind = 'r'
                           AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'p')
                        """.formatted(database.schema()))).isEmpty();
    }

    @Test
    void schema_saysItsVersion_andThisReleaseMayWriteToIt() throws SQLException {
        String newest =
                Migrator.of(database.dataSource(), database.schema()).state().libraryVersion();

        assertThat(query("SELECT value FROM \"%s\".controls WHERE name = '%s'"
                        .formatted(database.schema(), Release.SCHEMA_VERSION)))
                .as("what the last migration sets schema.version to")
                .containsExactly(newest);
        assertThat(Release.current().schema()).as("Release.NEWEST_SCHEMA").hasToString(newest);
        assertThat(query("SELECT value FROM \"%s\".controls WHERE name = '%s'"
                        .formatted(database.schema(), Release.OLDEST_WRITER)))
                .singleElement()
                .satisfies(oldest -> assertThat(Release.current().version().isOlderThan(Version.of(oldest)))
                        .isFalse());
    }

    private List<String> query(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return EmptyDatabase.query(connection, sql);
        }
    }
}
