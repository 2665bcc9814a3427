package dev.millrace.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Which sources it is that are measured, as far as the working directory tells. */
final class Commit {
    private Commit() {}

    static String current() {
        String commit = git("rev-parse", "--short=12", "HEAD");
        if (commit.isEmpty()) {
            return "not known";
        }
        return git("status", "--porcelain", "--untracked-files=no").isEmpty() ? commit : commit + ", changed";
    }

    private static String git(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "git";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0 ? output : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
