package dev.millrace.devdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs programs that refuse to run as root: under root, in a user namespace without a mapping, where it is nobody. */
final class Unprivileged {

    private Unprivileged() {}

    static List<String> command(List<String> program) throws IOException {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("unshare", "-U"));
        }
        command.addAll(program);
        return command;
    }

    private static boolean isRoot() throws IOException {
        Path self = Path.of("/proc/self");
        return Files.exists(self) && Integer.valueOf(0).equals(Files.getAttribute(self, "unix:uid"));
    }
}
