package dev.millrace.devdb;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Parameters of a server that is started here, such as {@code IntervalStyle}: the defaults of all its sessions.
 *
 * @param values by name, in their order
 */
record ServerParameters(Map<String, String> values) {

    static final ServerParameters NONE = new ServerParameters(Map.of());

    private static final Pattern ASSIGNMENT = Pattern.compile("\\s*([A-Za-z_][A-Za-z0-9_.]*)\\s*=(.*)", Pattern.DOTALL);

    /** Where the server listens is decided here, and whoever looks for it relies on that. */
    private static final Set<String> FIXED = Set.of("port", "listen_addresses", "unix_socket_directories");

    ServerParameters {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /** Reads {@code name=value; name=value}. Values hold no semicolons, and are taken as they are. */
    static ServerParameters parse(String setting) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String assignment : setting.split(";", -1)) {
            if (assignment.isBlank()) {
                continue;
            }
            Matcher matcher = ASSIGNMENT.matcher(assignment);
            if (!matcher.matches() || FIXED.contains(matcher.group(1).toLowerCase(Locale.ROOT))) {
                throw new DevDatabaseException("The setting " + Settings.PARAMETERS + " has the part \""
                        + assignment.strip() + "\"; allowed are a server's parameters, but for "
                        + FIXED.stream().sorted().collect(Collectors.joining(", "))
                        + ", as in: search_path=nowhere; IntervalStyle=sql_standard");
            }
            values.put(matcher.group(1), matcher.group(2).strip());
        }
        return new ServerParameters(values);
    }

    boolean isEmpty() {
        return values.isEmpty();
    }

    /** As lines of {@code postgresql.conf}. */
    String asConfiguration() {
        return values.entrySet().stream()
                .map(parameter -> parameter.getKey() + " = '"
                        + parameter.getValue().replace("\\", "\\\\").replace("'", "''") + "'\n")
                .collect(Collectors.joining());
    }

    /** As arguments of the server's program. */
    List<String> asArguments() {
        return values.entrySet().stream()
                .flatMap(parameter -> Stream.of("-c", parameter.getKey() + "=" + parameter.getValue()))
                .toList();
    }
}
