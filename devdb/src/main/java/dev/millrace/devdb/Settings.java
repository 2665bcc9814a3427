package dev.millrace.devdb;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.testcontainers.utility.DockerImageName;

/**
 * What the surroundings say about the database to use: system properties, or environment variables of the same name in
 * upper case with underscores ({@code millrace.devdb.url}, {@code MILLRACE_DEVDB_URL}). A property wins.
 *
 * @param provider the provider that is asked for; empty for {@code auto}
 * @param url the JDBC URL of a server that runs already
 * @param user the user for that URL; empty to take it from the URL
 * @param password the password for that URL; empty to take it from the URL
 * @param image the image for a container
 * @param parameters the parameters of a server that is started here
 * @param pooler what stands between clients and the server
 */
record Settings(
        Optional<Provider> provider,
        Optional<String> url,
        Optional<String> user,
        Optional<String> password,
        String image,
        ServerParameters parameters,
        Pooler pooler) {

    static final String PROVIDER = "millrace.devdb";
    static final String URL = "millrace.devdb.url";
    static final String USER = "millrace.devdb.user";
    static final String PASSWORD = "millrace.devdb.password";
    static final String IMAGE = "millrace.devdb.image";
    static final String PARAMETERS = "millrace.devdb.parameters";
    static final String POOLER = "millrace.devdb.pooler";
    static final String SCHEMA = "millrace.devdb.schema";
    static final String ROLE = "millrace.devdb.role";
    static final String STRAYS = "millrace.devdb.strays";

    /** The same major version as the embedded server, in the smallest of the official images. */
    static final String DEFAULT_IMAGE = "postgres:18-alpine";

    private static final String AUTO = "auto";

    Settings {
        requireImageName(image);
        if (url.isPresent() && !url.get().startsWith("jdbc:postgresql:")) {
            throw new DevDatabaseException("The setting " + URL + " does not start with jdbc:postgresql: and so is no"
                    + " address of a PostgreSQL. An example: jdbc:postgresql://localhost:5432/postgres");
        }
        if (url.isEmpty() && (user.isPresent() || password.isPresent())) {
            throw new DevDatabaseException("The setting " + (user.isPresent() ? USER : PASSWORD) + " is given without "
                    + URL + ". Give the URL as well, or neither.");
        }
        if (provider.equals(Optional.of(Provider.URL)) && url.isEmpty()) {
            throw new DevDatabaseException("The setting " + PROVIDER + " is \"url\", but there is no " + URL
                    + ". Give it, or choose another.");
        }
    }

    private static void requireImageName(String image) {
        try {
            DockerImageName.parse(image).assertValid();
        } catch (IllegalArgumentException e) {
            throw new DevDatabaseException(
                    "The setting " + IMAGE + " is \"" + image + "\", which is no image's name. An example: "
                            + DEFAULT_IMAGE,
                    e);
        }
    }

    static Settings ofSurroundings() {
        return of(System::getProperty, System.getenv()::get);
    }

    static Settings of(Function<String, @Nullable String> properties, Function<String, @Nullable String> environment) {
        Function<String, Optional<String>> setting = name -> value(name, properties, environment);
        return new Settings(
                setting.apply(PROVIDER).flatMap(Settings::parseProvider),
                setting.apply(URL),
                setting.apply(USER),
                setting.apply(PASSWORD),
                setting.apply(IMAGE).orElse(DEFAULT_IMAGE),
                setting.apply(PARAMETERS).map(ServerParameters::parse).orElse(ServerParameters.NONE),
                setting.apply(POOLER).map(Settings::parsePooler).orElse(Pooler.NONE));
    }

    /** The schema that tests get unless they name one themselves: lets a whole suite run in another schema. */
    static Optional<String> schemaOfSurroundings() {
        return value(SCHEMA, System::getProperty, System.getenv()::get);
    }

    /** As whom tests connect: lets a whole suite run as a role that may do little. */
    static TestRole roleOfSurroundings() {
        return TestRole.of(value(ROLE, System::getProperty, System.getenv()::get));
    }

    /** Whether a test class may leave nothing outside of its schema: those of Millrace itself, not those of its users. */
    static boolean refusesStrays() {
        String setting =
                value(STRAYS, System::getProperty, System.getenv()::get).orElse("allowed");
        return switch (setting) {
            case "allowed" -> false;
            case "refused" -> true;
            default ->
                throw new DevDatabaseException(
                        "The setting " + STRAYS + " is \"" + setting + "\"; allowed are allowed, refused.");
        };
    }

    private static Optional<String> value(
            String name,
            Function<String, @Nullable String> properties,
            Function<String, @Nullable String> environment) {
        String value = properties.apply(name);
        if (value == null) {
            value = environment.apply(name.toUpperCase(Locale.ROOT).replace('.', '_'));
        }
        return Optional.ofNullable(value).filter(text -> !text.isEmpty());
    }

    private static Optional<Provider> parseProvider(String value) {
        if (value.equals(AUTO)) {
            return Optional.empty();
        }
        Optional<Provider> provider = Arrays.stream(Provider.values())
                .filter(candidate -> candidate.settingName().equals(value))
                .findFirst();
        if (provider.isEmpty()) {
            String allowed =
                    Arrays.stream(Provider.values()).map(Provider::settingName).collect(Collectors.joining(", "));
            throw new DevDatabaseException(
                    "The setting " + PROVIDER + " is \"" + value + "\"; allowed are " + AUTO + ", " + allowed + ".");
        }
        return provider;
    }

    private static Pooler parsePooler(String value) {
        return Arrays.stream(Pooler.values())
                .filter(candidate -> candidate.settingName().equals(value))
                .findFirst()
                .orElseThrow(() -> new DevDatabaseException("The setting " + POOLER + " is \"" + value
                        + "\"; allowed are "
                        + Arrays.stream(Pooler.values())
                                .map(Pooler::settingName)
                                .collect(Collectors.joining(", "))
                        + "."));
    }
}
