package dev.millrace.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.OwnThread;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FeedTest {
    private final List<String> heard = new CopyOnWriteArrayList<>();

    private Feed<List<String>> feed() {
        return new Feed<>("a listener", heard, (listener, events) -> listener.add("missed " + events));
    }

    @Test
    void tell_isHeardInOrder_onADaemonThreadOfItsOwn() {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        try (Feed<List<String>> feed = feed()) {
            for (int i = 0; i < 100; i++) {
                String event = String.valueOf(i);
                feed.tell(listener -> {
                    listener.add(event);
                    threads.add(Thread.currentThread());
                });
            }
        }
        assertThat(heard)
                .containsExactlyElementsOf(
                        IntStream.range(0, 100).mapToObj(String::valueOf).toList());
        assertThat(threads).allSatisfy(thread -> {
            assertThat(thread.getName()).isEqualTo("a listener");
            assertThat(thread.isDaemon()).isTrue();
        });
    }

    @Test
    void listener_thatThrows_anErrorIncluded_hearsWhatFollows() {
        try (Feed<List<String>> feed = feed()) {
            feed.tell(listener -> {
                throw new AssertionError("on purpose");
            });
            feed.tell(listener -> {
                throw new IllegalStateException("on purpose");
            });
            feed.tell(listener -> listener.add("after"));
        }
        assertThat(heard).containsExactly("after");
    }

    @Test
    void listener_thatIsSlow_keepsNobodyWaiting_andIsToldHowManyItMissed() {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        Feed<List<String>> feed = feed();
        feed.tell(listener -> {
            entered.countDown();
            waitFor(gate);
        });
        waitFor(entered);
        for (int i = 0; i < Feed.LIMIT + 3; i++) {
            feed.tell(listener -> {});
        }
        gate.countDown();
        // None is dropped any more once the listener has made room.
        await().until(() -> {
            feed.tell(listener -> listener.add("heard"));
            return heard.contains("heard");
        });
        feed.close();
        assertThat(heard.get(0)).isEqualTo("missed 3");
    }

    @Test
    void close_whileTheListenerHangs_ends_andInterruptsIt() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        Feed<List<String>> feed = feed();
        feed.tell(listener -> {
            entered.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
        });
        waitFor(entered);
        feed.tell(listener -> listener.add("never heard"));
        OwnThread.run(() -> Feed.close(List.of(feed), Duration.ofMillis(10))).get(30, TimeUnit.SECONDS);
        assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
        feed.tell(listener -> listener.add("told too late"));
        assertThat(heard).isEmpty();
    }

    private static void waitFor(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
