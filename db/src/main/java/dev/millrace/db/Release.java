package dev.millrace.db;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * A release of the library, as the schema sees it.
 *
 * <p>The schema says of itself, in two rows of its table {@code controls}, which version it has and which is the oldest
 * release that may still use it. With that, a release tells whether a schema is for it, however much newer the schema is.
 *
 * @param version its own version
 * @param schema the oldest version of the schema that it works with
 */
public record Release(Version version, Version schema) {
    /** The name of the row in {@code controls} with the version of the schema. */
    public static final String SCHEMA_VERSION = "schema.version";

    /** The name of the row in {@code controls} with the oldest release that may write to the schema. */
    public static final String OLDEST_WRITER = "schema.oldest-writer";

    /** The newest migration. */
    private static final Version NEWEST_SCHEMA = Version.of("5");

    private static final String RESOURCE = "release.properties";

    /** {@return the release that this class belongs to} */
    public static Release current() {
        String version = builtVersion();
        try {
            return new Release(Version.ofBuild(version), NEWEST_SCHEMA);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(
                    "The library doesn't know its own version: in " + RESOURCE + " beside " + Release.class.getName()
                            + ", " + e.getMessage() + ". Maven writes it there; build with Maven, or have the tool that"
                            + " builds fill the properties of the folder \"filtered\".",
                    e);
        }
    }

    private static String builtVersion() {
        Properties properties = new Properties();
        try (InputStream resource = Release.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IllegalStateException("The library doesn't know its own version: " + RESOURCE + " beside "
                        + Release.class.getName() + " is missing. Keep it when you repackage the library.");
            }
            properties.load(resource);
        } catch (IOException e) {
            throw new UncheckedIOException("The library's own version can't be read", e);
        }
        return properties.getProperty("version", "");
    }
}
