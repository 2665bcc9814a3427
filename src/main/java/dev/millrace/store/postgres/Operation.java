package dev.millrace.store.postgres;

import static dev.millrace.store.postgres.FailureClass.CONFIRMABLE;
import static dev.millrace.store.postgres.FailureClass.NEVER;
import static dev.millrace.store.postgres.FailureClass.ONCE;
import static dev.millrace.store.postgres.FailureClass.RECOVERABLE;
import static dev.millrace.store.postgres.FailureClass.REPEATABLE;

import org.jspecify.annotations.Nullable;

/** All that the store does to the database, each with what may be done when its answer is lost. */
enum Operation {
    SUBMIT(CONFIRMABLE, "submit job \"%s\""),
    CREATE(CONFIRMABLE, "create job \"%s\""),
    GET(REPEATABLE, "read job \"%s\""),
    COMPARE_AND_SET(CONFIRMABLE, "change job \"%s\""),
    CANCEL(CONFIRMABLE, "cancel job \"%s\""),
    QUERY(REPEATABLE, "list jobs"),
    COUNT(REPEATABLE, "count jobs by status, kind and queue"),
    COUNT_BY_STATUS(REPEATABLE, "count jobs by status"),
    COUNT_BY_KIND(REPEATABLE, "count jobs by kind"),
    COUNT_WAITING(REPEATABLE, "count waiting jobs"),
    OLDEST_WAITING(REPEATABLE, "look for the oldest waiting jobs"),
    RETRY(CONFIRMABLE, "retry job \"%s\""),
    SEED(CONFIRMABLE, "seed job \"%s\""),
    SUBMIT_ALL(CONFIRMABLE, "submit jobs"),
    CANCEL_ALL(CONFIRMABLE, "cancel jobs"),

    ENQUEUE(REPEATABLE, "enqueue job \"%s\""),
    REQUEUE(REPEATABLE, "requeue job \"%s\""),
    REMOVE(CONFIRMABLE, "remove job \"%s\" from its queue"),
    DEPTH(REPEATABLE, "count queue \"%s\""),
    REPAIR(REPEATABLE, "repair places in the queue"),

    CLAIM(RECOVERABLE, "claim jobs"),
    CLAIM_ASSIGNED(RECOVERABLE, "claim job \"%s\""),
    RECOVER(REPEATABLE, "look for jobs of an unanswered claim"),
    BEAT(REPEATABLE, "send heartbeats"),
    START(REPEATABLE, "start job \"%s\""),
    START_ALL(REPEATABLE, "note that jobs run"),
    PROGRESS(REPEATABLE, "report progress of job \"%s\""),
    FINISH(CONFIRMABLE, "finish job \"%s\""),
    FINISH_ALL(CONFIRMABLE, "finish jobs"),

    PROBE(NEVER, "probe the database"),
    SUSPECTS(REPEATABLE, "look for overdue jobs"),
    EXPIRE(CONFIRMABLE, "end overdue job \"%s\""),
    IS_LOCKED(REPEATABLE, "see whether job \"%s\" is locked"),
    SHORTEST_TIMEOUT(REPEATABLE, "read heartbeat timeouts"),
    CANDIDATES(REPEATABLE, "look for jobs to reconcile"),

    GET_REMOTE(REPEATABLE, "read remote job \"%s\""),
    BEGIN_REMOTE(CONFIRMABLE, "begin an attempt at remote job \"%s\""),
    RUNNING_REMOTE(REPEATABLE, "note that remote job \"%s\" runs"),
    PROGRESS_REMOTE(REPEATABLE, "note the progress of remote job \"%s\""),
    FINISH_REMOTE(CONFIRMABLE, "finish remote job \"%s\""),
    CLEAR_PROGRESS(REPEATABLE, "clear the progress of job \"%s\""),

    ACQUIRE(ONCE, "acquire lease \"%s\""),
    RENEW(REPEATABLE, "renew lease \"%s\""),
    RELEASE_LEASE(REPEATABLE, "release lease \"%s\""),
    LEASE_HOLDER(REPEATABLE, "see who holds lease \"%s\""),

    HOLD(REPEATABLE, "stop claims and recovery"),
    RELEASE_HOLD(CONFIRMABLE, "let claims and recovery go on"),
    HELD(REPEATABLE, "see whether claims and recovery are stopped"),
    PAUSE(REPEATABLE, "pause \"%s\""),
    RESUME(CONFIRMABLE, "resume \"%s\""),
    PAUSES(REPEATABLE, "see what is paused"),
    PROBE_SIGNALS(REPEATABLE, "try whether signals get through"),

    APPEND(REPEATABLE, "append to the log of job \"%s\""),
    APPEND_WITHOUT_EVENT_ID(ONCE, "append to the log of job \"%s\""),
    READ_LOG(REPEATABLE, "read the log of job \"%s\""),
    KEEP_LOG(REPEATABLE, "set the retention of the log of job \"%s\""),

    PUT_RESULT(REPEATABLE, "store the result of job \"%s\""),
    PUT_RESULT_OF_ATTEMPT(REPEATABLE, "store an attempt's result of job \"%s\""),
    GET_RESULT(REPEATABLE, "read the result of job \"%s\""),

    SWEEP(REPEATABLE, "delete expired %s"),

    CLOCK(REPEATABLE, "read the clock");

    private final FailureClass failureClass;
    private final String does;

    Operation(FailureClass failureClass, String does) {
        this.failureClass = failureClass;
        this.does = does;
    }

    FailureClass failureClass() {
        return failureClass;
    }

    /** What it does, to follow "Can't" in a message. */
    String describe(@Nullable String subject) {
        return subject == null ? does : does.replace("%s", subject);
    }
}
