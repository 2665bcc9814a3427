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
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The scripts of the contenders in JavaScript, with the packages of their lock file beside them, in a work folder. They are
 * optional: where there is no Node, or packages can't be had, these contenders are left out.
 */
final class NodePackages {
    private static final List<String> FILES =
            List.of("package.json", "package-lock.json", "peer.js", "pg-boss.js", "graphile-worker.js");
    private static final int OLDEST_NODE = 20;
    private static final long PATIENCE_SECONDS = 180;
    private static final Pattern MAJOR = Pattern.compile("v(\\d+)\\..*", Pattern.DOTALL);

    private final Path folder;
    private final Consumer<String> say;

    /** @param say where to say, in one line, why they are left out */
    NodePackages(Path folder, Consumer<String> say) {
        this.folder = folder;
        this.say = say;
    }

    /** The folder with scripts and packages, unless they can't be had here. */
    Optional<Path> install() throws IOException, InterruptedException {
        if (!nodeIsNewEnough()) {
            return absent("there is no Node " + OLDEST_NODE + " or newer");
        }
        copy();
        // What is there already is left as it is; so this also works without a network, the second time.
        if (!Files.exists(folder.resolve("installed"))) {
            String output = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error");
            if (!Files.exists(folder.resolve("node_modules/pg-boss"))) {
                return absent("npm could not install their packages: "
                        + output.lines().findFirst().orElse("it said nothing"));
            }
            Files.writeString(folder.resolve("installed"), "");
        }
        return Optional.of(folder);
    }

    private Optional<Path> absent(String why) {
        say.accept("pg-boss and graphile-worker are left out: " + why + ".");
        return Optional.empty();
    }

    private boolean nodeIsNewEnough() throws IOException, InterruptedException {
        Files.createDirectories(folder);
        Matcher version = MAJOR.matcher(run("node", "--version"));
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

    /** What it has printed; nothing if there is no such program. */
    private String run(String... command) throws InterruptedException {
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
                return "it took longer than " + PATIENCE_SECONDS + " s";
            }
            return Files.readString(output, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
