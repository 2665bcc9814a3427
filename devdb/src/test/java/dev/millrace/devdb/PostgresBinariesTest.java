package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class PostgresBinariesTest {

    @TempDir
    private Path root;

    @Test
    void unpackInto_ofSeveralAtOnce_unpacksOnceForAll() throws Exception {
        Set<Path> homes = unpackAtOnce();

        assertThat(homes).hasSize(1);
        assertThat(children()).containsExactlyElementsOf(homes);
    }

    @Test
    void unpackInto_whereFilesWereTidiedAway_unpacksBesideThem() throws Exception {
        Path damaged = PostgresBinaries.unpackInto(root);
        try (Stream<Path> tree = Files.walk(damaged)) {
            Files.delete(tree.filter(path -> path.endsWith("postgres.bki"))
                    .findFirst()
                    .orElseThrow());
        }

        Set<Path> homes = unpackAtOnce();

        assertThat(homes).hasSize(1).doesNotContain(damaged);
        assertThat(PostgresBinaries.unpackInto(root)).isEqualTo(homes.iterator().next());
        assertThat(children()).hasSize(2).contains(damaged);
    }

    private Set<Path> unpackAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<Future<Path>> futures = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                futures.add(threads.submit(() -> PostgresBinaries.unpackInto(root)));
            }
            Set<Path> homes = new HashSet<>();
            for (Future<Path> future : futures) {
                homes.add(future.get(60, TimeUnit.SECONDS));
            }
            return homes;
        } finally {
            threads.shutdownNow();
        }
    }

    private List<Path> children() throws IOException {
        try (Stream<Path> children = Files.list(root)) {
            return children.toList();
        }
    }
}
