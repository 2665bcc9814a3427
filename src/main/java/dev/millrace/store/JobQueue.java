package dev.millrace.store;

import java.time.Duration;
import java.util.List;

/** The local queue: which jobs wait for a worker, and in which order. */
public interface JobQueue {
    /**
     * Gives a queued local job its place: claimable at once, or, between two attempts, when the next one is due.
     * Repeating it keeps the first place.
     *
     * @param id the job's id
     * @return whether the job has a place now; false if it is not queued, not local, or not there
     */
    boolean enqueue(String id);

    /**
     * Claims up to {@link ClaimRequest#limit()} jobs. Each is claimed by one caller only, however many ask at once, and
     * counts one attempt. Urgent jobs come first, among equals those that were due first. An empty answer means that no
     * job was claimable.
     *
     * <p>After a {@link StoreException} that {@linkplain StoreException#mayHaveHappened() may have happened}, jobs may have
     * been claimed: {@link WorkSource#recover} finds them by the request's tokens.
     *
     * @param request for whom, from where, and how many
     * @return the jobs, each with the token of its claim
     */
    List<Claim> claim(ClaimRequest request);

    /**
     * Claims one job of the local backend by its id, whatever its queue, profile and kind. It is taken if it is queued
     * and due, which is when its place in the queue says so, or, if it has no place, when its next attempt may begin;
     * one that had no place has one from then on, so that it needs no repair when it is given back.
     *
     * <p>A claimed job is taken if the request allows it, its worker gave no sign of life for the job's heartbeat
     * timeout by database time, and it has an attempt left: the silent attempt goes into the job's history as expired.
     * What the recovery would end rather than queue again is left to it. A row that someone else has locked is then not
     * waited for, since the lock may be what kept the heartbeats out; whoever is told so asks again no sooner than the
     * worker could have sent one.
     *
     * <p>Counts one attempt. After a {@link StoreUnavailableException} the job may have been claimed: the same
     * request, asked again, gets that claim, with a sign of life, until the job is shown as {@code Running}. Asked again later it is a
     * request as any other, and gets another attempt, with another token, or is refused.
     *
     * @param request for whom, which job, and whether it may be taken from a silent worker
     * @return the claim, or why there is none
     */
    Assignment claim(AssignedClaim request);

    /**
     * Gives a queued local job its place anew, claimable after the delay. One that has no place gets one.
     *
     * @param id the job's id
     * @param delay from now by database time; zero or longer
     * @return whether it was given; false if the job is not queued or not local
     */
    boolean requeue(String id, Duration delay);

    /**
     * Gives a claimed job back: queued, its claim cleared, claimable after the delay. For the holder of its claim.
     *
     * @param attempt the attempt that holds the job
     * @param delay from now by database time; zero or longer
     * @return whether it was given back; false if it was no longer the attempt's
     */
    boolean requeue(Attempt attempt, Duration delay);

    /**
     * Takes a queued job's place away. It lasts until dispatch repair, which gives places to local jobs that lack them:
     * to stop a job, cancel it.
     *
     * @param id the job's id
     * @return whether a place was taken
     */
    boolean remove(String id);

    /**
     * {@return how many jobs of this profile and queue wait and are due; exact, so its cost grows with the number}
     *
     * @param runtimeProfile the profile
     * @param queue the queue
     */
    long depth(String runtimeProfile, String queue);

    /**
     * Gives a place to local queued jobs that have had none for a while: their producer died between creating and
     * enqueueing them, or their place was removed.
     *
     * @param untouchedFor how long such a job must not have changed
     * @param limit how many at most, from 1
     * @return how many got a place
     */
    int repair(Duration untouchedFor, int limit);
}
