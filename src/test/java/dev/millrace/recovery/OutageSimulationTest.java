package dev.millrace.recovery;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.store.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random weather: outages in which the store refuses or hangs, slow times, pauses of the reconciler, in any mixture; one
 * worker that lives, beats, and repeats a beat that failed, and one that dies somewhere in it. Whatever happens, the
 * first one keeps its job, and the second one's is recovered when the weather has been fair for long enough.
 */
class OutageSimulationTest {
    private static final int ROUNDS = 60;
    private static final int BAD_WEATHER_MILLIS = 400_000;

    /** What the store does at a time. */
    private enum Weather {
        FAIR,
        SLOW,
        REFUSING,
        HANGING
    }

    private static final List<Weather> WEATHERS = List.of(Weather.values());

    private final Random seeds = new Random();

    @Test
    void outagesOfAllKinds_expireNoLiveWorkersJob_andDelayADeadOnesByATimeoutAtMost() {
        for (int round = 0; round < ROUNDS; round++) {
            long seed = seeds.nextLong();
            new Simulation(seed).run();
        }
    }

    private static final class Simulation {
        private final long seed;
        private final Random random;
        private final ManualClock clock = new ManualClock();
        private final FakeStore store = new FakeStore(clock);
        private final HeartbeatPolicy heartbeat;
        private final JobReconciler reconciler;
        private final Duration diesAt;

        private Weather weather = Weather.FAIR;
        private Duration weatherChangesAt = Duration.ZERO;
        private Duration nextBeat;
        private boolean beating;

        Simulation(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            Duration interval = ofMillis(2_000 + random.nextInt(20_000));
            this.heartbeat =
                    new HeartbeatPolicy(interval, interval.multipliedBy(2).plusMillis(random.nextInt(30_000)));
            this.reconciler = new JobReconciler(RecoverySettings.DEFAULT, store, store, clock);
            this.diesAt = ofMillis(random.nextInt(BAD_WEATHER_MILLIS));
            this.nextBeat = interval;
            store.claimed("alive", heartbeat);
            store.claimed("dead", heartbeat);
            store.onProbe = this::statement;
            store.onSuspects = this::statement;
        }

        void run() {
            // A timeout of fair weather first, so that the worker's first beats are not what is tested.
            weatherChangesAt = heartbeat.timeout();
            while (clock.elapsed().compareTo(ofMillis(BAD_WEATHER_MILLIS)) < 0) {
                reconcilerRound();
                if (random.nextInt(400) == 0) {
                    pass(ofMillis(random.nextInt(60_000)));
                }
            }
            weather = Weather.FAIR;
            weatherChangesAt = Duration.ofDays(1);
            Duration fairSince = clock.elapsed();
            while (store.has("dead")) {
                reconciler.tick();
                reconcilerRound();
                Duration fair = clock.elapsed().minus(fairSince);
                assertThat(fair)
                        .as("seed %d: how long the dead worker's job waits", seed)
                        .isLessThan(heartbeat.timeout().multipliedBy(2).plusSeconds(2));
            }
            assertThat(store.finished).as("seed %d", seed).containsOnlyKeys("dead");
        }

        /** A probe, or now and then a sweep, and the rest of a second or of a sixth of the timeout. */
        private void reconcilerRound() {
            if (random.nextInt(4) == 0) {
                reconciler.tick();
            }
            pass(reconciler.probeRound());
            assertThat(store.has("alive"))
                    .as("seed %d: the live worker has its job", seed)
                    .isTrue();
        }

        /** What a statement of the reconciler goes through: the answer comes when the weather lets it. */
        private void statement() {
            switch (weather) {
                case FAIR -> pass(ofMillis(random.nextInt(20)));
                case SLOW -> pass(ofMillis(1_000 + random.nextInt(1_500)));
                case REFUSING -> throw new StoreUnavailableException("refused", null);
                case HANGING -> {
                    while (weather == Weather.HANGING) {
                        pass(ofMillis(50));
                    }
                }
            }
        }

        /** Time passes, and the workers do what they do in it. */
        private void pass(Duration time) {
            Duration end = clock.elapsed().plus(time);
            while (clock.elapsed().compareTo(end) < 0) {
                clock.advance(ofMillis(10));
                if (clock.elapsed().compareTo(weatherChangesAt) >= 0) {
                    change();
                }
                workers();
            }
        }

        private void change() {
            weather = WEATHERS.get(random.nextInt(WEATHERS.size()));
            int longest = random.nextInt(4) == 0 ? 120_000 : 15_000;
            weatherChangesAt = clock.elapsed().plusMillis(1 + random.nextInt(longest));
        }

        /** A beat hangs while the store hangs, takes its time when it is slow, and is repeated after 2 s if it fails. */
        private void workers() {
            if (clock.elapsed().compareTo(nextBeat) < 0) {
                return;
            }
            if (weather == Weather.SLOW && !beating) {
                beating = true;
                nextBeat = clock.elapsed().plusMillis(1_000 + random.nextInt(1_500));
            } else if (weather == Weather.REFUSING) {
                beating = false;
                nextBeat = clock.elapsed().plusMillis(2_000);
            } else if (weather != Weather.HANGING) {
                beating = false;
                beat();
                nextBeat = clock.elapsed().plus(heartbeat.interval());
            }
        }

        private void beat() {
            store.beat("alive");
            if (clock.elapsed().compareTo(diesAt) < 0 && store.has("dead")) {
                store.beat("dead");
            }
        }
    }
}
