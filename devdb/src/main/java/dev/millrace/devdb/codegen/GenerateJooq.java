package dev.millrace.devdb.codegen;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Generates the jOOQ classes of a module from the migrations, into its checked-in sources; run by that module's build.
 *
 * <p>The arguments, none of which depends on the working directory:
 *
 * <ol>
 *   <li>when to generate: {@code if-changed} does nothing, and needs no database, while the digest of the migrations,
 *       the settings and jOOQ's version is the one that is checked in; {@code always} generates; {@code check} generates
 *       aside, changes nothing, and fails if the result or the digest differs from what is checked in
 *   <li>jOOQ's version
 *   <li>the folder of the migrations
 *   <li>the folder of the module: {@code src/main/java} and {@code schema.digest} are in it
 * </ol>
 *
 * <p>It takes its server from {@link dev.millrace.devdb.DevDatabase} and leaves none running.
 */
public final class GenerateJooq {

    static final String COMMAND = "./mvnw -q -Pcodegen process-classes -pl generated -am";

    private final SchemaDigest digest;
    private final Path checkedInClasses;
    private final Path checkedInDigest;
    private final Path scratch;
    private final PrintStream out;

    private GenerateJooq(SchemaDigest digest, Path module, PrintStream out) {
        this.digest = digest;
        this.checkedInClasses = module.resolve("src/main/java").resolve(GeneratorSettings.PACKAGE.replace('.', '/'));
        this.checkedInDigest = module.resolve("schema.digest");
        this.scratch = module.resolve("target/codegen");
        this.out = out;
    }

    /**
     * Runs the generator as the arguments say.
     *
     * @param arguments as described above
     * @throws IllegalArgumentException if there are others than those four
     * @throws IllegalStateException if a check finds differences, which it has printed
     * @throws Exception if files or the server are not as they should be
     */
    public static void main(String[] arguments) throws Exception {
        run(arguments, System.out);
    }

    static void run(String[] arguments, PrintStream out) throws Exception {
        if (arguments.length != 4) {
            throw new IllegalArgumentException(
                    "Found " + arguments.length + " arguments. Give four: if-changed, always or check; jOOQ's version; "
                            + "the folder of the migrations; the folder of the module.");
        }
        SchemaDigest digest = SchemaDigest.of(arguments[1], Path.of(arguments[2]));
        GenerateJooq generator =
                new GenerateJooq(digest, Path.of(arguments[3]).toAbsolutePath().normalize(), out);
        switch (arguments[0]) {
            case "if-changed" -> generator.generateIfChanged();
            case "always" -> generator.generate();
            case "check" -> generator.check();
            default ->
                throw new IllegalArgumentException(
                        "Found \"" + arguments[0] + "\" for when to generate. It is one of if-changed, always, check.");
        }
    }

    private void generateIfChanged() throws Exception {
        if (digestIsCurrent() && Files.isDirectory(checkedInClasses)) {
            return;
        }
        out.println("The migrations or the generator changed: generating " + checkedInClasses);
        generate();
    }

    private void generate() throws Exception {
        SourceTree classes = new SchemaGenerator(scratch).generate();
        classes.replace(checkedInClasses);
        // Last, so that a run that was cut short is repeated.
        digest.write(checkedInDigest);
    }

    private void check() throws Exception {
        SourceTree classes = new SchemaGenerator(scratch).generate();
        List<String> differences = classes.differencesFrom(SourceTree.read(checkedInClasses));
        if (!differences.isEmpty()) {
            differences.forEach(out::println);
            throw new IllegalStateException(
                    "The generated classes differ from the migrations as shown above. Generate them with " + COMMAND
                            + " and commit the result.");
        }
        if (!digestIsCurrent()) {
            throw new IllegalStateException(checkedInDigest + " is out of date, though the generated classes are not. "
                    + "Bring it up to date with " + COMMAND + " and commit the result.");
        }
        out.println("The generated classes are those of the migrations.");
    }

    private boolean digestIsCurrent() throws Exception {
        return digest.isIn(checkedInDigest);
    }
}
