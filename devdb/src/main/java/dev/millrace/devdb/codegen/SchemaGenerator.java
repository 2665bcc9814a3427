package dev.millrace.devdb.codegen;

import dev.millrace.db.Migrator;
import dev.millrace.devdb.DevDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.codegen.GenerationTool;
import org.jooq.impl.DSL;

/** Migrates a schema of its own on a development database, generates the jOOQ classes of it, and drops it. */
final class SchemaGenerator {

    private static final String SUPPRESSED_BEFORE_21 = "@SuppressWarnings({ \"all\", \"unchecked\", \"rawtypes\" })";
    private static final String SUPPRESSED_SINCE_21 =
            "@SuppressWarnings({ \"all\", \"unchecked\", \"rawtypes\", \"this-escape\" })";

    private final Path scratch;

    SchemaGenerator(Path scratch) {
        this.scratch = scratch;
    }

    /** The generated classes, with paths below {@link GeneratorSettings#PACKAGE}. */
    SourceTree generate() throws Exception {
        try (DevDatabase server = DevDatabase.start();
                ScratchSchema schema = new ScratchSchema(server.dataSource())) {
            Migrator.of(server.dataSource(), schema.name()).migrate();
            generate(server.dataSource(), schema.name());
        }
        return SourceTree.read(scratch.resolve(GeneratorSettings.PACKAGE.replace('.', '/')))
                .map(SchemaGenerator::sameOnEveryJdk);
    }

    private void generate(DataSource database, String schema) throws Exception {
        try (Connection connection = database.getConnection()) {
            GenerationTool tool = new GenerationTool();
            tool.setConnection(connection);
            tool.run(GeneratorSettings.of(schema, scratch));
        }
    }

    /** On JDK 21 and newer jOOQ suppresses one more warning, which the compilers from there on would give. */
    private static String sameOnEveryJdk(String source) {
        return source.replace(SUPPRESSED_BEFORE_21, SUPPRESSED_SINCE_21);
    }

    /** The server may be a given one that others use too: no name that could be theirs, and nothing left behind. */
    private record ScratchSchema(DataSource database, String name) implements AutoCloseable {

        ScratchSchema(DataSource database) {
            this(database, "millrace_codegen_" + UUID.randomUUID().toString().replace("-", ""));
        }

        @Override
        public void close() throws SQLException {
            try (Connection connection = database.getConnection()) {
                DSL.using(connection, SQLDialect.POSTGRES)
                        .dropSchemaIfExists(DSL.name(name))
                        .cascade()
                        .execute();
            }
        }
    }
}
