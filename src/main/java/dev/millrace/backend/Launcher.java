package dev.millrace.backend;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Starts the process of an attempt so that it outlives this JVM and tells its exit code to whoever comes after: below a
 * wrapper, a script of ours that is always the same, whose input and output are files. What it runs are its arguments,
 * which no shell looks into.
 */
final class Launcher {
    /**
     * Arguments: the attempt's folder, then the command. Only one wrapper of a folder gets past the first line, however
     * often a JVM that died has made it be started. Signals that it catches it does nothing about, and its child gets
     * them as usual, for what is caught, unlike what is ignored, is not inherited. The tools are those of the system,
     * whatever PATH says.
     */
    private static final String WRAPPER = """
            command -p mkdir "$1/started" 2>/dev/null || exit 0
            trap : HUP INT TERM
            dir=$1
            shift
            echo $$ >"$dir/pid.part" && command -p mv "$dir/pid.part" "$dir/pid" || exit 1
            [ -e "$dir/exit" ] && exit 0
            "$@"
            code=$?
            echo $code >"$dir/exit.wrapper" && command -p mv "$dir/exit.wrapper" "$dir/exit"
            """;

    private static final List<String> INHERITED = List.of("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR");

    private final Map<String, String> environment;
    private final @Nullable Path setsid;

    Launcher(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
        // A session of its own, where the system has the tool: an interrupt at this JVM's terminal is not meant for it.
        this.setsid = Stream.of("/usr/bin/setsid", "/bin/setsid")
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** Starts it, unless it was started. Returns the wrapper, which may not have begun its work. */
    Process launch(OperationFolder folder, List<String> program) throws IOException {
        List<String> command = new ArrayList<>();
        if (setsid != null) {
            command.add(setsid.toString());
        }
        command.addAll(
                List.of("/bin/sh", "-c", WRAPPER, "millrace", folder.path().toString()));
        command.addAll(program);
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.file("work").toFile())
                .redirectInput(Redirect.from(folder.file("parameters.json").toFile()))
                .redirectOutput(Redirect.appendTo(folder.file("stdout").toFile()))
                .redirectError(Redirect.appendTo(folder.file("stderr").toFile()));
        Map<String, String> variables = builder.environment();
        variables.keySet().retainAll(INHERITED);
        variables.putAll(environment);
        RemoteOperation operation = folder.operation();
        variables.put("MILLRACE_JOB_ID", operation.jobId());
        variables.put("MILLRACE_JOB_KIND", folder.kind());
        variables.put("MILLRACE_ATTEMPT", String.valueOf(operation.attempt()));
        variables.put("MILLRACE_PARAMETERS_FILE", folder.file("parameters.json").toString());
        variables.put("MILLRACE_RESULT_FILE", folder.file("result.json").toString());
        variables.put("MILLRACE_PROGRESS_FILE", folder.file("progress").toString());
        return builder.start();
    }
}
