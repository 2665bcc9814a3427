package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class JobIdsTest {
    private static final int MANY = 20_000;

    /** Jobs that are submitted together are due at the same time: then their ids say who came first. */
    @Test
    void ids_areInTheOrderInWhichTheyWereMade_alsoWithinAMillisecond() {
        List<String> ids = Stream.generate(JobIds::next).limit(MANY).toList();
        assertThat(ids).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void ids_areUuidsOfVersion7_ofAboutNow() {
        long before = System.currentTimeMillis();
        UUID id = UUID.fromString(JobIds.next());
        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        // Others may be made meanwhile, more than fit into a millisecond.
        assertThat(id.getMostSignificantBits() >>> 16).isBetween(before, System.currentTimeMillis() + 1_000);
    }

    @Test
    void ids_ofSeveralThreads_differ() {
        Set<String> ids = ConcurrentHashMap.newKeySet();
        IntStream.range(0, MANY).parallel().forEach(n -> ids.add(JobIds.next()));
        assertThat(ids).hasSize(MANY);
    }
}
