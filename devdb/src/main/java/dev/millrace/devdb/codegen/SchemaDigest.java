package dev.millrace.devdb.codegen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the generated classes depend on, as one SHA-256: the names and bytes of the migrations, the generator's settings,
 * and jOOQ's version.
 */
record SchemaDigest(String hex) {

    static SchemaDigest of(String jooqVersion, Path migrations) throws IOException {
        MessageDigest sha256 = sha256();
        add(sha256, jooqVersion.getBytes(UTF_8));
        add(sha256, GeneratorSettings.canonical().getBytes(UTF_8));
        for (Path migration : sorted(migrations)) {
            add(sha256, migration.getFileName().toString().getBytes(UTF_8));
            add(sha256, Files.readAllBytes(migration));
        }
        return new SchemaDigest(HexFormat.of().formatHex(sha256.digest()));
    }

    boolean isIn(Path file) throws IOException {
        return Files.exists(file) && Files.readString(file).strip().equals(hex);
    }

    void write(Path file) throws IOException {
        Files.writeString(file, hex + "\n");
    }

    private static List<Path> sorted(Path migrations) throws IOException {
        try (Stream<Path> files = Files.list(migrations)) {
            List<Path> sorted = files.filter(Files::isRegularFile)
                    .sorted((a, b) ->
                            a.getFileName().toString().compareTo(b.getFileName().toString()))
                    .toList();
            if (sorted.isEmpty()) {
                throw new IllegalArgumentException("There are no migrations in " + migrations.toAbsolutePath());
            }
            return sorted;
        }
    }

    /** With its length before it, so that no two lists of parts make the same digest. */
    private static void add(MessageDigest digest, byte[] part) {
        digest.update((part.length + ":").getBytes(UTF_8));
        digest.update(part);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }
}
