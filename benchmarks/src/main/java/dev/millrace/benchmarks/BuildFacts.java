package dev.millrace.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Of which sources and libraries these classes were built. The build runs {@link #main} and so writes it down beside the
 * classes: when a family runs, the working directory may be elsewhere or hold other sources, and in one jar with all libraries
 * these no longer say their versions.
 */
public final class BuildFacts {
    /** Beside this class. */
    private static final String FILE = "build.properties";

    private static final String COMMIT = "commit";
    private static final String VERSION_OF = "version.";
    static final String NOT_KNOWN = "not known";

    /** As Maven's repository has them. */
    private static final List<String> LIBRARIES = List.of(
            "org/jooq/jooq",
            "org/postgresql/postgresql",
            "com/zaxxer/HikariCP",
            "com/fasterxml/jackson/core/jackson-databind",
            "org/flywaydb/flyway-core",
            "org/openjdk/jmh/jmh-core",
            "com/github/kagkarlsson/db-scheduler",
            "org/jobrunr/jobrunr",
            "org/quartz-scheduler/quartz");

    private BuildFacts() {}

    /** {@return the commit, and whether the sources were changed since} */
    static String commit() throws IOException {
        return read().getProperty(COMMIT, NOT_KNOWN);
    }

    /** {@return versions by the names of libraries} */
    static Map<String, String> libraries() throws IOException {
        Properties facts = read();
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("millrace", facts.getProperty(VERSION_OF + "millrace", NOT_KNOWN));
        for (String library : LIBRARIES) {
            versions.put(name(library), facts.getProperty(VERSION_OF + name(library), NOT_KNOWN));
        }
        return versions;
    }

    private static String name(String library) {
        return library.substring(library.lastIndexOf('/') + 1);
    }

    private static Properties read() throws IOException {
        Properties facts = new Properties();
        try (InputStream file = BuildFacts.class.getResourceAsStream(FILE)) {
            if (file != null) {
                facts.load(file);
            }
        }
        return facts;
    }

    /**
     * Writes it down. Run by the build, on the class path of which the jar is made.
     *
     * @param arguments the folder of the sources, the version that is built, the folder of the classes
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<String> facts = new ArrayList<>();
        facts.add(COMMIT + "=" + commitOf(Path.of(arguments[0])));
        facts.add(VERSION_OF + "millrace=" + arguments[1]);
        Set<String> jars = jars();
        for (String library : LIBRARIES) {
            facts.add(VERSION_OF + name(library) + "=" + version(library, jars));
        }
        Path folder = Path.of(arguments[2], BuildFacts.class.getPackageName().split("\\.", -1));
        Files.writeString(folder.resolve(FILE), String.join("\n", facts) + "\n");
    }

    /** An archive of the sources has no commit, also where it lies within some other repository. */
    static String commitOf(Path sources) throws IOException, InterruptedException {
        String commit = Files.exists(sources.resolve(".git")) ? git(sources, "rev-parse", "--short=12", "HEAD") : null;
        if (commit == null) {
            return NOT_KNOWN;
        }
        String changes = git(sources, "status", "--porcelain", "--", ".", ":(exclude)docs");
        if (changes == null) {
            return commit + ", it is not known whether changed";
        }
        return changes.isEmpty() ? commit : commit + ", changed";
    }

    /** What it says; null if it fails. */
    private static @Nullable String git(Path folder, String... arguments) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        Collections.addAll(command, arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0 ? output : null;
        } catch (IOException e) {
            return null; // there is no git
        }
    }

    /** Where all jars on the class path lie. */
    private static Set<String> jars() throws IOException {
        Set<String> names = new TreeSet<>();
        for (URL manifest : Collections.list(BuildFacts.class.getClassLoader().getResources("META-INF/MANIFEST.MF"))) {
            if (manifest.getProtocol().equals("jar")) {
                names.add(manifest.getPath().substring(0, manifest.getPath().indexOf("!/")));
            }
        }
        return names;
    }

    /** As in {@code org/jooq/jooq/3.19.0/jooq-3.19.0.jar}. */
    private static String version(String library, Set<String> jars) {
        Pattern file = Pattern.compile(".*/" + library + "/(?<version>[^/]+)/" + name(library) + "-\\k<version>\\.jar");
        Set<String> versions = new TreeSet<>();
        for (String jar : jars) {
            Matcher matcher = file.matcher(jar);
            if (matcher.matches()) {
                versions.add(matcher.group("version"));
            }
        }
        if (versions.size() != 1) {
            throw new IllegalStateException(
                    "On the class path there are these versions of " + library + ", and not one: " + versions);
        }
        return String.join("", versions);
    }
}
