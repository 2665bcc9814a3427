package dev.millrace.benchmarks.peers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The scripts of the contenders in JavaScript, with the packages of their lock file beside them, in a work folder. They are
 * optional: where there is no Node, or packages can't be had, these contenders are left out.
 */
final class NodePackages {
    private static final List<String> FILES =
            List.of("package.json", "package-lock.json", "peer.js", "pg-boss.js", "graphile-worker.js");
    /** A copy of the lock file whose packages are installed: another lock file is installed anew. */
    private static final String INSTALLED = "installed";

    private static final int OLDEST_NODE = 20;
    private static final long PATIENCE_SECONDS = 180;
    private static final Pattern MAJOR = Pattern.compile("v(\\d+)\\..*", Pattern.DOTALL);

    private final Path folder;

    NodePackages(Path folder) {
        this.folder = folder;
    }

    /** {@return why they can't be had here; nothing if scripts and packages are in the folder now} */
    Optional<String> install() throws IOException, InterruptedException {
        if (!nodeIsNewEnough()) {
            return Optional.of("there is no Node " + OLDEST_NODE + " or newer");
        }
        copy();
        // What is there already is left as it is; so this also works without a network, the second time.
        String wanted = Files.readString(folder.resolve("package-lock.json"));
        Path installed = folder.resolve(INSTALLED);
        if (Files.exists(installed) && Files.readString(installed).equals(wanted)) {
            return Optional.empty();
        }
        Files.deleteIfExists(installed);
        Output npm = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error");
        if (npm.code() != 0) {
            return Optional.of("npm could not install their packages: "
                    + npm.text().lines().findFirst().orElse("it said nothing"));
        }
        Files.writeString(installed, wanted);
        return Optional.empty();
    }

    private boolean nodeIsNewEnough() throws IOException, InterruptedException {
        Files.createDirectories(folder);
        Matcher version = MAJOR.matcher(run("node", "--version").text());
        return version.matches() && Integer.parseInt(version.group(1)) >= OLDEST_NODE;
    }

    private void copy() throws IOException {
        for (String file : FILES) {
            try (InputStream content = NodePackages.class.getResourceAsStream("/peers-node/" + file)) {
                if (content == null) {
                    throw new IOException("There is no " + file + " on the class path");
                }
                Files.copy(content, folder.resolve(file), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private record Output(int code, String text) {}

    /** What it has printed, and how it ended. */
    private Output run(String... command) throws InterruptedException {
        try {
            Path output = folder.resolve("output.txt");
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return new Output(-1, "it took longer than " + PATIENCE_SECONDS + " s");
            }
            return new Output(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } catch (IOException e) {
            return new Output(-1, "there is no program " + command[0]);
        }
    }
}
