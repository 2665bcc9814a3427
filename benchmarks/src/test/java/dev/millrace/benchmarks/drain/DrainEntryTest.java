package dev.millrace.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.peers.Contenders;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DrainEntryTest {
    @Test
    void fullSize_hasALargeQueueOfTwoRounds_forMillraceAndDbSchedulerTuned() {
        List<DrainEntry> large = all(Size.FULL).stream()
                .filter(entry -> entry.jobs() > DrainEntry.usual(Size.FULL))
                .toList();
        assertThat(large)
                .extracting(entry -> entry.contender().name(), DrainEntry::processes, DrainEntry::jobs)
                .containsExactly(
                        tuple(Contenders.MILLRACE_TUNED, 1, 100_000), tuple(Contenders.DB_SCHEDULER, 1, 100_000));
        assertThat(large)
                .allMatch(entry -> entry.rounds(Size.FULL) == 2)
                .noneMatch(DrainEntry::showsSubmissions)
                .allMatch(entry -> entry.portions(Size.FULL).oneByOne() == 0);
    }

    @ParameterizedTest
    @EnumSource(
            value = Size.class,
            names = {"TINY", "QUICK"})
    void otherSizes_haveNoLargeQueue(Size size) {
        assertThat(all(size)).allMatch(entry -> entry.jobs() <= DrainEntry.usual(size));
    }

    @ParameterizedTest
    @EnumSource(Size.class)
    void submissions_areShownOfEachContenderOnce(Size size) {
        assertThat(all(size).stream().filter(DrainEntry::showsSubmissions))
                .extracting(DrainEntry::contender)
                .doesNotHaveDuplicates()
                .hasSameSizeAs(Contenders.onTheJvm().drain());
    }

    @Test
    void entries_areComparedWithThoseOfAsManyProcessesAndJobs() {
        DrainEntry entry = all(Size.FULL).get(0);
        assertThat(entry.comparesWith(new DrainEntry(entry.contender(), entry.processes(), entry.jobs())))
                .isTrue();
        assertThat(entry.comparesWith(new DrainEntry(entry.contender(), 4, entry.jobs())))
                .isFalse();
        assertThat(entry.comparesWith(new DrainEntry(entry.contender(), entry.processes(), 100_000)))
                .isFalse();
    }

    private static List<DrainEntry> all(Size size) {
        return DrainEntry.all(Contenders.onTheJvm().drain(), size);
    }
}
