package dev.millrace.recovery;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.store.Attempt;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LockedRowsTest {
    private final ManualClock clock = new ManualClock();
    private final LockedRows rows = new LockedRows(clock);
    private final Attempt a = new Attempt("a", UUID.randomUUID());
    private final Attempt b = new Attempt("b", UUID.randomUUID());

    @Test
    void freeRow_isSparedFromItsFirstSightingOn_forTheIntervalAndTheRepeatedBeat() {
        rows.locked(a);
        clock.advance(ofMinutes(10));
        assertThat(rows.free(a, ofSeconds(30))).isEqualTo(ofSeconds(32));
        clock.advance(ofSeconds(20));
        assertThat(rows.free(a, ofSeconds(30))).isEqualTo(ofSeconds(12));
        clock.advance(ofSeconds(12));
        assertThat(rows.free(a, ofSeconds(30))).isEqualTo(ZERO);
    }

    @Test
    void rowThatIsLockedAgain_startsAgain() {
        rows.locked(a);
        rows.free(a, ofSeconds(30));
        clock.advance(ofSeconds(31));
        rows.locked(a);
        assertThat(rows.free(a, ofSeconds(30))).isEqualTo(ofSeconds(32));
    }

    @Test
    void rowsThatASweepDidNotSee_areForgotten() {
        rows.beginSweep();
        rows.locked(a);
        rows.locked(b);
        rows.endSweep();
        assertThat(rows.size()).isEqualTo(2);
        rows.beginSweep();
        assertThat(rows.remembers(a)).isTrue();
        rows.endSweep();
        assertThat(rows.remembers(a)).isTrue();
        assertThat(rows.remembers(b)).isFalse();
        assertThat(rows.size()).isOne();
    }

    @Test
    void sweepThatWasCutShort_forgetsNothing() {
        rows.beginSweep();
        rows.locked(a);
        rows.endSweep();
        rows.beginSweep();
        rows.beginSweep();
        assertThat(rows.remembers(a)).isTrue();
    }

    @Test
    void nextAttemptAtTheSameJob_isAnotherOne() {
        rows.locked(a);
        assertThat(rows.remembers(new Attempt("a", UUID.randomUUID()))).isFalse();
    }
}
