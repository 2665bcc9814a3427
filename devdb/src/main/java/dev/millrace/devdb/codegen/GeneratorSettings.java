package dev.millrace.devdb.codegen;

import java.nio.file.Path;
import java.util.List;
import org.jooq.meta.jaxb.Configuration;
import org.jooq.meta.jaxb.Database;
import org.jooq.meta.jaxb.ForcedType;
import org.jooq.meta.jaxb.Generate;
import org.jooq.meta.jaxb.GeneratedAnnotationType;
import org.jooq.meta.jaxb.Generator;
import org.jooq.meta.jaxb.Logging;
import org.jooq.meta.jaxb.MatcherRule;
import org.jooq.meta.jaxb.MatcherTransformType;
import org.jooq.meta.jaxb.Matchers;
import org.jooq.meta.jaxb.MatchersSchemaType;
import org.jooq.meta.jaxb.OnError;
import org.jooq.meta.jaxb.Strategy;
import org.jooq.meta.jaxb.Target;

/**
 * What jOOQ generates from the migrated schema, and which Java types the columns get.
 *
 * <p>The schema keeps its name in the generated classes; the library maps it at run time. Left out is all that differs
 * between server versions (the text of check constraints) or between runs (dates), so that the same migrations give the
 * same bytes everywhere.
 */
final class GeneratorSettings {

    /** The schema's name in the generated classes. */
    private static final String SCHEMA = "millrace";

    /** The package of the generated classes. */
    static final String PACKAGE = "dev.millrace.jooq";

    private static final String TYPES = "dev.millrace.types.";

    private GeneratorSettings() {}

    /** The settings as a text that is the same on every machine: only what shapes the generated classes is in it. */
    static String canonical() {
        return of(SCHEMA, Path.of("")).toString();
    }

    /** The configuration that reads this schema and writes below this folder. */
    static Configuration of(String schema, Path sourceFolder) {
        return new Configuration()
                .withLogging(Logging.WARN)
                .withOnError(OnError.FAIL)
                .withGenerator(new Generator()
                        .withDatabase(database(schema))
                        .withStrategy(strategy())
                        .withGenerate(generate())
                        .withTarget(new Target()
                                .withPackageName(PACKAGE)
                                .withDirectory(sourceFolder.toString())
                                .withEncoding("UTF-8")
                                .withClean(true)));
    }

    private static Database database(String schema) {
        return new Database()
                .withName("org.jooq.meta.postgres.PostgresDatabase")
                .withInputSchema(schema)
                .withOutputSchema(SCHEMA)
                .withIncludes(".*")
                .withExcludes("millrace_schema_history")
                .withIncludeCheckConstraints(false)
                .withIncludeTriggerRoutines(false)
                .withForcedTypes(columnTypes());
    }

    /** The first one that fits a column wins. */
    private static List<ForcedType> columnTypes() {
        return List.of(
                converted("JobStatus").withIncludeExpression(".*\\.execution_jobs\\.status"),
                converted("Priority").withIncludeExpression(".*\\.execution_jobs\\.(queue_)?priority"),
                converted("JsonText").withIncludeTypes("json"),
                new ForcedType()
                        .withUserType("java.util.List<java.lang.String>")
                        .withConverter(TYPES + "StringListConverter")
                        .withIncludeTypes("(_text|text\\[\\]|text array)"),
                new ForcedType()
                        .withUserType("java.time.Instant")
                        .withBinding(TYPES + "InstantBinding")
                        .withIncludeTypes("(timestamptz|timestamp(\\(\\d\\))? with time zone)"),
                new ForcedType()
                        .withUserType("java.time.Duration")
                        .withBinding(TYPES + "DurationBinding")
                        .withIncludeTypes("interval.*"));
    }

    private static ForcedType converted(String type) {
        return new ForcedType().withUserType(TYPES + type).withConverter(TYPES + type + "Converter");
    }

    /** Only the schema's class gets another name: Millrace is already that of the library's entry point. */
    private static Strategy strategy() {
        return new Strategy()
                .withMatchers(new Matchers()
                        .withSchemas(new MatchersSchemaType()
                                .withExpression("^.+$")
                                .withSchemaClass(new MatcherRule()
                                        .withTransform(MatcherTransformType.AS_IS)
                                        .withExpression("MillraceSchema"))));
    }

    private static Generate generate() {
        return new Generate()
                .withGeneratedAnnotation(true)
                .withGeneratedAnnotationType(GeneratedAnnotationType.JAVAX_ANNOTATION_PROCESSING_GENERATED)
                .withGeneratedAnnotationDate(false)
                .withGeneratedAnnotationJooqVersion(true)
                .withJooqVersionReference(false)
                .withDefaultCatalog(false)
                .withGlobalCatalogReferences(false)
                .withEmptyCatalogs(false)
                .withRecords(true)
                .withPojos(false)
                .withDaos(false)
                .withInterfaces(false)
                .withRoutines(false)
                .withSequences(false)
                .withTriggers(false)
                .withUdts(false)
                .withJavaTimeTypes(true)
                .withIntervalTypes(true)
                .withWhereMethodOverrides(false)
                .withRenameMethodOverrides(false)
                .withImplicitJoinPathsToOne(false)
                .withImplicitJoinPathsToMany(false);
    }
}
