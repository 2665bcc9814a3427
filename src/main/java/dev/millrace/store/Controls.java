package dev.millrace.store;

import dev.millrace.job.Checks;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Switches that hold for all processes on the schema, across restarts, until someone turns them back. */
public interface Controls {
    /**
     * Stops what decides about jobs by their age or their turn: no job is claimed or recovered, no lost place in
     * the queue is repaired, and nothing that has outlived its retention is deleted, until {@link #release}. For after a backup was restored, which brings back old states: look first, then
     * release.
     *
     * <p>Each statement that claims or recovers checks it by itself, so every process obeys from the moment that the
     * switch is set, whether it was told or not; one that had begun before that may still take effect. What runs goes
     * on: heartbeats, progress and ends of attempts are written, and jobs can be submitted, cancelled and enqueued.
     *
     * <p>Repeatable; the first one stays.
     *
     * @param by who asks: 1 to 512 characters
     * @param why the reason: 1 to 2,000 characters, or null
     * @return the hold that is in force, which is that of someone else if there was one
     * @throws dev.millrace.job.InvalidJobException if a value is not allowed
     */
    Hold hold(String by, @Nullable String why);

    /**
     * Lets claims and recovery go on, at their next poll and sweep. Repeatable. Where an answer of the database was lost, a
     * hold that someone has set since the call began stays.
     *
     * @param by who asks, for the log: 1 to 512 characters
     * @return the hold that was in force; empty if there was none, which after an outage may be what this very call did
     * @throws dev.millrace.job.InvalidJobException if the value is not allowed
     */
    Optional<Hold> release(String by);

    /** {@return the hold that is in force; empty if there is none} */
    Optional<Hold> held();

    /**
     * Lets no job of this queue or kind be claimed, or started by a remote backend, in any process, until {@link #resume}.
     * What runs goes on, but not to its next attempt; recovery, cancellation and new submissions do too. Checked as {@link #hold} is, by each claim.
     *
     * <p>Repeatable; the first one stays. A name that no job has is as good as any: one may come.
     *
     * @param scope the queue or kind
     * @param by who asks: 1 to 512 characters
     * @param why the reason: 1 to 2,000 characters, or null
     * @return the pause that is in force, which is that of someone else if there was one
     * @throws dev.millrace.job.InvalidJobException if a value is not allowed
     */
    Pause pause(Scope scope, String by, @Nullable String why);

    /**
     * Lets jobs of this queue or kind be claimed again, at the next poll. Repeatable. Where an answer of the database was lost, a
     * pause that someone has set since the call began stays.
     *
     * @param scope the queue or kind
     * @param by who asks, for the log: 1 to 512 characters
     * @return the pause that was in force; empty if there was none, which after an outage may be what this very call did
     * @throws dev.millrace.job.InvalidJobException if a value is not allowed
     */
    Optional<Pause> resume(Scope scope, String by);

    /** {@return what is paused, queues first, by name} */
    List<Pause> pauses();

    /**
     * What can be paused.
     *
     * @param type what the name is a name of
     * @param name 1 to 64 characters
     */
    record Scope(Type type, String name) {
        /** What a name is a name of. */
        public enum Type {
            /** All jobs that wait in a queue, for whichever profile. */
            QUEUE,
            /** All jobs of a kind, in whichever queue. */
            KIND
        }

        /**
         * Checks the values.
         *
         * @param type see {@link #type()}
         * @param name see {@link #name()}
         * @throws dev.millrace.job.InvalidJobException if a value is not allowed
         */
        public Scope {
            Checks.given("scope.type", type);
            Checks.name("scope.name", name);
        }

        /** {@return what and which, such as {@code the queue "mail"}} */
        @Override
        public String toString() {
            return (type == Type.QUEUE ? "the queue \"" : "the kind \"") + name + "\"";
        }

        /**
         * {@return all jobs that wait in this queue}
         *
         * @param name 1 to 64 characters
         */
        public static Scope queue(String name) {
            return new Scope(Type.QUEUE, name);
        }

        /**
         * {@return all jobs of this kind}
         *
         * @param name 1 to 64 characters
         */
        public static Scope kind(String name) {
            return new Scope(Type.KIND, name);
        }
    }

    /**
     * No jobs of a queue or kind are claimed.
     *
     * @param scope the queue or kind
     * @param by who asked for it
     * @param why the reason, or null if none was given
     * @param since since when, by database time
     */
    record Pause(Scope scope, String by, @Nullable String why, Instant since) {}

    /**
     * Claims and recovery are stopped.
     *
     * @param by who asked for it
     * @param why the reason, or null if none was given
     * @param since since when, by database time
     */
    record Hold(String by, @Nullable String why, Instant since) {}
}
