package dev.millrace.examples.digests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Files of random content. */
final class SomeFiles {
    private SomeFiles() {}

    /** As many as asked for in three folders, some of them empty, with names that are not plain. */
    static void create(Path root, int number, Random random) throws IOException {
        for (int i = 0; i < number; i++) {
            Path folder = Files.createDirectories(root.resolve("folder " + i % 3));
            int length = i % 10 == 0 ? 0 : random.nextInt(20_000);
            Files.write(folder.resolve("Prüfling " + i + " (größer).dat"), bytes(length, random));
        }
    }

    static byte[] bytes(int length, Random random) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
