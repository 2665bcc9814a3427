package dev.millrace.examples.digests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DisplayTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private long now;

    @Test
    void elsewhere_itPrintsALineForEachTenthAndAtMostOneASecond() {
        Display display = display(false);

        display.progress(1, 20);
        display.progress(2, 20);
        display.progress(4, 20);
        pass(Duration.ofSeconds(1));
        display.progress(5, 20);
        pass(Duration.ofSeconds(9));
        display.progress(5, 20);
        display.progress(20, 20);
        display.end();

        assertThat(printed().lines())
                .containsExactly(" 10 %  2 of 20 jobs", " 25 %  5 of 20 jobs", "100 %  20 of 20 jobs");
    }

    @Test
    void onATerminal_itDrawsABarOverItself() {
        Display display = display(true);

        display.progress(5, 10);
        display.progress(5, 10);
        display.progress(10, 10);
        display.end();

        assertThat(printed())
                .isEqualTo("\r\u001b[K[###############...............]  50 %  5 of 10 jobs"
                        + "\r\u001b[K[##############################] 100 %  10 of 10 jobs\n");
    }

    @Test
    void onATerminal_aLineGoesAboveTheBar() {
        Display display = display(true);

        display.say("first");
        display.progress(0, 10);
        display.say("second");

        String bar = "[..............................]   0 %  0 of 10 jobs";
        assertThat(printed()).isEqualTo("first\n\r\u001b[K" + bar + "\r\u001b[Ksecond\n" + bar);
    }

    private Display display(boolean terminal) {
        return new Display(new PrintStream(bytes, true, UTF_8), terminal, () -> now);
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private String printed() {
        return bytes.toString(UTF_8).replace(System.lineSeparator(), "\n");
    }
}
