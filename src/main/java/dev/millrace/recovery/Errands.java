package dev.millrace.recovery;

import dev.millrace.internal.Complaints;
import dev.millrace.recovery.BackendTally.Event;
import dev.millrace.store.LeaseLostException;
import dev.millrace.store.StoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has things done on the threads of backends. Whatever goes wrong with one stays with it: it is counted, said once, and
 * comes again with the next sweep. Safe for use by many threads.
 */
final class Errands {
    private static final Logger LOG = LoggerFactory.getLogger(Errands.class);

    private final BackendWork work;
    private final BackendTally tally;
    private final Complaints complaints;

    /** What is to be done. */
    interface Errand {
        void run(TimedTask task) throws Exception;
    }

    Errands(BackendWork work, BackendTally tally, Complaints complaints) {
        this.work = work;
        this.tally = tally;
        this.complaints = complaints;
    }

    /** For a job. Says whether it was taken: there is one for each job at a time. */
    boolean forJob(String threads, String jobId, Errand errand) {
        return give(threads, "job " + jobId, jobId, errand);
    }

    /** For something else. Says whether it was taken: there is one of each at a time. */
    boolean forThe(String threads, String what, Errand errand) {
        return give(threads, "the " + what, what, errand);
    }

    private boolean give(String threads, String key, String about, Errand errand) {
        return work.give(threads, key, task -> {
            try {
                errand.run(task);
                complaints.settled(key);
            } catch (LeaseLostException e) {
                tally.add(Event.LEASED);
            } catch (Throwable e) {
                tally.error(e);
                try {
                    complain(key, about, e);
                } catch (Throwable again) {
                    e.addSuppressed(again); // a logger may fail for the reason that it should report
                }
            }
        });
    }

    private void complain(String key, String about, Throwable e) {
        if (e instanceof StoreUnavailableException) {
            LOG.debug("\"{}\" could not be dealt with, since the store does not answer.", about, e);
        } else if (complaints.isNew(key)) {
            LOG.warn("\"{}\" could not be dealt with, and is tried again by the next sweep.", about, e);
        } else {
            LOG.debug("\"{}\" could not be dealt with again.", about, e);
        }
    }
}
