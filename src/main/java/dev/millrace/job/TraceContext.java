package dev.millrace.job;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a job belongs in a distributed trace, in the syntax of <a href="https://www.w3.org/TR/trace-context/">W3C Trace
 * Context</a>.
 *
 * @param traceparent version, trace id, span id and flags, such as {@code
 *     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}; at most 512 characters where a later version than 00 has more
 *     parts
 * @param tracestate what tracing systems add to it, a list of at most 32 members, at most 512 characters; null if there is
 *     none
 */
public record TraceContext(String traceparent, @Nullable String tracestate) {
    private static final int MAX_CHARACTERS = 512;
    private static final int MAX_MEMBERS = 32;

    private static final Pattern PARENT =
            Pattern.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}"
                    + "-[0-9a-f]{2}((?<!^00.{53})-[\\x20-\\x7e]*)?");
    private static final Pattern KEY =
            Pattern.compile("[a-z][a-z0-9_\\-*/]{0,255}" + "|[a-z0-9][a-z0-9_\\-*/]{0,240}@[a-z][a-z0-9_\\-*/]{0,13}");
    private static final Pattern VALUE =
            Pattern.compile("[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{0,255}[\\x21-\\x2b\\x2d-\\x3c\\x3e-\\x7e]");

    /**
     * Checks the values.
     *
     * @param traceparent see {@link #traceparent()}
     * @param tracestate see {@link #tracestate()}
     * @throws InvalidJobException if a value is not allowed
     */
    public TraceContext {
        if (traceparent == null || !isParent(traceparent)) {
            throw new InvalidJobException(
                    "traceContext.traceparent",
                    traceparent == null ? "null" : traceparent.length() + " characters of another form",
                    "version-traceid-parentid-flags of W3C Trace Context, in lower-case hexadecimal digits of which not all"
                            + " are zero, such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        }
        if (tracestate != null && !isState(tracestate)) {
            throw new InvalidJobException(
                    "traceContext.tracestate",
                    tracestate.length() + " characters of another form",
                    "1 to " + MAX_MEMBERS + " members key=value of W3C Trace Context, separated by commas, no two keys"
                            + " alike, at most " + MAX_CHARACTERS + " characters");
        }
    }

    /**
     * {@return a context without a {@code tracestate}}
     *
     * @param traceparent see {@link #traceparent()}
     * @throws InvalidJobException if it is not allowed
     */
    public static TraceContext of(String traceparent) {
        return new TraceContext(traceparent, null);
    }

    /**
     * {@return the context that these make, if {@code traceparent} is one} A {@code tracestate} that is not one is left
     * out, as the specification asks for. For what comes from elsewhere and must not fail anything.
     *
     * @param traceparent what may be one, or null
     * @param tracestate what may be one, or null
     */
    public static Optional<TraceContext> ifValid(@Nullable String traceparent, @Nullable String tracestate) {
        if (traceparent == null || !isParent(traceparent)) {
            return Optional.empty();
        }
        return Optional.of(
                new TraceContext(traceparent, tracestate != null && isState(tracestate) ? tracestate : null));
    }

    /** {@return the id of the trace: 32 hexadecimal digits} */
    public String traceId() {
        return traceparent.substring(3, 35);
    }

    /** {@return the id of the span that the job was submitted in: 16 hexadecimal digits} */
    public String spanId() {
        return traceparent.substring(36, 52);
    }

    private static boolean isParent(String text) {
        return text.length() <= MAX_CHARACTERS && PARENT.matcher(text).matches();
    }

    private static boolean isState(String text) {
        if (text.length() > MAX_CHARACTERS) {
            return false;
        }
        String[] members = text.split(",", -1);
        Set<String> keys = new HashSet<>();
        for (String member : members) {
            String trimmed = member.strip();
            int equals = trimmed.indexOf('=');
            boolean valid = trimmed.isEmpty()
                    || (equals > 0
                            && KEY.matcher(trimmed.substring(0, equals)).matches()
                            && VALUE.matcher(trimmed.substring(equals + 1)).matches()
                            && keys.add(trimmed.substring(0, equals)));
            if (!valid) {
                return false;
            }
        }
        return members.length <= MAX_MEMBERS && !keys.isEmpty();
    }
}
