package dev.millrace.recovery;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.store.StoreUnavailableException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads what is logged")
class StoreProbeTest {
    private final ManualClock clock = new ManualClock();
    private final FakeStore store = new FakeStore(clock);
    private final StoreWatch watch = new StoreWatch(clock, ofSeconds(1));
    private final StoreProbe probe = new StoreProbe(store, watch, clock);

    @Test
    void outage_isLoggedOnce_howeverManyProbesItHas() {
        String log = logOf(() -> {
            for (int outage = 0; outage < 2; outage++) {
                store.down();
                for (int i = 0; i < 20; i++) {
                    assertThatThrownBy(probe::send).isInstanceOf(StoreUnavailableException.class);
                    clock.advance(ofSeconds(1));
                }
                store.up();
                probe.send();
                assertThat(probe.outage()).isNull();
            }
        });
        assertThat(log.split("The store does not answer", -1)).hasSize(1 + 2);
    }

    @Test
    void pace_isASixthOfTheShortestTimeout_betweenFrequentAndOnceASecond() {
        assertThat(probe.pace()).isEqualTo(ofSeconds(1));
        probe.paceFor(ofSeconds(3));
        assertThat(probe.pace()).isEqualTo(ofMillis(500));
        probe.paceFor(ofSeconds(90));
        assertThat(probe.pace()).isEqualTo(ofSeconds(1));
        probe.paceFor(ofMillis(20));
        assertThat(probe.pace()).isBetween(ofMillis(20), StoreWatch.SHORTEST.dividedBy(3));
        probe.paceFor(null);
        assertThat(probe.pace()).isEqualTo(ofSeconds(1));
    }

    @Test
    void probeThatThrowsAnError_failsTheWatch() {
        probe.send();
        assertThat(watch.healthy()).isTrue();
        store.onProbe = () -> {
            throw new LinkageError("no");
        };
        assertThatThrownBy(probe::send).isInstanceOf(LinkageError.class);
        assertThat(watch.healthy()).isFalse();
        assertThat(probe.outage()).hasMessage("no");
    }

    private static String logOf(Runnable action) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
