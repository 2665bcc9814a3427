package dev.millrace.db;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares the migrations that were released with those that are there. Their checksums are in users' databases, so not
 * one byte of them may change.
 *
 * @param list the file with a line for each released migration: its file, its SHA-256, its release
 * @param folder the folder of the migrations
 */
record ReleasedMigrations(Path list, Path folder) {

    /** What is wrong, and what to do; empty if nothing is. */
    List<String> problems() throws IOException {
        List<String> problems = new ArrayList<>();
        for (Map.Entry<String, Released> entry : released().entrySet()) {
            Path file = folder.resolve(entry.getKey());
            String was =
                    entry.getKey() + " was released with " + entry.getValue().release() + " and ";
            if (!Files.exists(file)) {
                problems.add(was + "is not there any more. Put it back, and undo what it did by a new migration.");
            } else if (!sha256(Files.readAllBytes(file)).equals(entry.getValue().sha256())) {
                problems.add(was + "has changed. Take it back as it was, comments included, and make the change by a"
                        + " new migration: databases keep the checksum of what they were migrated by.");
            }
        }
        return problems;
    }

    /** The same for the newest release that git knows: that all of its migrations are in the list, as they were. */
    List<String> problemsSinceNewestTag() throws IOException, InterruptedException {
        Path repository = folder.toAbsolutePath();
        Optional<String> tag = text(git(repository, "tag", "--list", "v*", "--sort=-version:refname"))
                .lines()
                .findFirst();
        if (tag.isEmpty()) {
            return List.of();
        }
        List<String> problems = new ArrayList<>();
        Map<String, Released> released = released();
        for (String file : text(git(repository, "ls-tree", "--name-only", tag.get()))
                .lines()
                .toList()) {
            String line = file + " " + sha256(git(repository, "show", tag.get() + ":./" + file)) + " ";
            Released listed = released.get(file);
            if (file.endsWith(".sql") && (listed == null || !line.startsWith(file + " " + listed.sha256()))) {
                problems.add(tag.get() + " was released with " + file + ", which " + list
                        + " doesn't list like that. Add the line: " + line
                        + tag.get().substring(1));
            }
        }
        return problems;
    }

    private record Released(String sha256, String release) {}

    private Map<String, Released> released() throws IOException {
        Map<String, Released> released = new LinkedHashMap<>();
        for (String line : Files.readAllLines(list)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] words = line.strip().split(" +", -1);
                if (words.length != 3) {
                    throw new IllegalStateException(list + " has a line that is not \"file sha256 release\": " + line);
                }
                released.put(words[0], new Released(words[1], words[2]));
            }
        }
        return released;
    }

    static boolean gitKnows(Path folder) throws InterruptedException {
        try {
            git(folder.toAbsolutePath(), "rev-parse", "HEAD");
            return true;
        } catch (IOException e) {
            return false; // there is no git, or the sources are not in a repository of it
        }
    }

    static byte[] git(Path folder, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        Process git = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        git.getInputStream().transferTo(output);
        if (git.waitFor() != 0) {
            throw new IOException(command + " in " + folder + " ended with " + git.exitValue());
        }
        return output.toByteArray();
    }

    private static String text(byte[] output) {
        return new String(output, StandardCharsets.UTF_8);
    }

    static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
