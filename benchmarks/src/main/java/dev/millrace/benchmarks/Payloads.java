package dev.millrace.benchmarks;

import java.util.Base64;
import java.util.Random;

/** Payloads of a given size that don't compress well, and are the same in each run. */
public final class Payloads {
    private Payloads() {}

    /**
     * {@return text of that many characters of one byte each}
     *
     * @param bytes how many
     */
    public static String noise(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(7).nextBytes(noise);
        return Base64.getEncoder().encodeToString(noise).substring(0, bytes);
    }
}
