package dev.millrace.db;

import java.util.Arrays;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a release or of a schema, such as {@code 0.10.0} or {@code 5}: one to four numbers, compared as numbers,
 * where one that is missing is 0. So {@code 0.10} is newer than {@code 0.9.3}, and as new as {@code 0.10.0}.
 */
public final class Version {
    private static final Pattern NUMBERS = Pattern.compile("[0-9]{1,9}(\\.[0-9]{1,9}){0,3}");

    /** What a build adds to the numbers: {@code -SNAPSHOT}, {@code -rc.1}, {@code +build}. */
    private static final Pattern BUILD = Pattern.compile("(" + NUMBERS + ")([-+].*)?");

    private static final int MOST_PARTS = 4;
    private static final int LONGEST_SHOWN = 40;

    private final String text;
    private final int[] parts;

    private Version(String text) {
        this.text = text;
        this.parts = Arrays.copyOf(
                Arrays.stream(text.split("\\.")).mapToInt(Integer::parseInt).toArray(), MOST_PARTS);
    }

    /**
     * {@return the version that this text says}
     *
     * @param text one to four numbers with dots between them
     * @throws IllegalArgumentException if it says none
     */
    public static Version of(String text) {
        if (!NUMBERS.matcher(text).matches()) {
            throw refusal(text);
        }
        return new Version(text);
    }

    /** The version that a build has or leads to: a snapshot or candidate counts as its release. */
    static Version ofBuild(String text) {
        Matcher build = BUILD.matcher(text);
        if (!build.matches()) {
            throw refusal(text);
        }
        return new Version(Objects.requireNonNull(build.group(1)));
    }

    private static IllegalArgumentException refusal(String text) {
        String shown = text.length() > LONGEST_SHOWN ? text.substring(0, LONGEST_SHOWN) + ".." : text;
        return new IllegalArgumentException("\"" + shown
                + "\" is no version; a version is one to four numbers with dots between them, such as 0.1.0");
    }

    /**
     * {@return whether it comes before that one}
     *
     * @param other the version to compare with
     */
    public boolean isOlderThan(Version other) {
        return Arrays.compare(parts, other.parts) < 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Version version && Arrays.equals(parts, version.parts);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(parts);
    }

    /** As it was written. */
    @Override
    public String toString() {
        return text;
    }
}
