package dev.millrace.store.postgres;

import dev.millrace.store.StoreException;

/** A stored record that this release can't read. Its bytes stay as they are. */
final class UndecodableJobException extends StoreException {
    private static final long serialVersionUID = 1L;

    UndecodableJobException(String id, Throwable cause) {
        super(
                "The record of job \"" + id + "\" can't be read by this release ("
                        + cause.getClass().getSimpleName()
                        + "): a newer one may have written it, or something else has. The record is untouched; upgrade,"
                        + " or mend the record, then retry the job.",
                cause);
    }
}
