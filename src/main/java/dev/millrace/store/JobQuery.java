package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs are wanted. Begin with {@link #ALL} and say what is to be left out; all that is said must be true of a job.
 *
 * @param statuses one of these; empty for any
 * @param kind of this kind; null for any
 * @param tenants whose
 * @param createdFrom created then or later; null for any time
 * @param createdBefore created earlier than then; null for any time
 * @param keys findable by all of these, at most {@value #MAX_KEYS}
 * @param limit how many at most, 1 to {@value #MAX_LIMIT}
 * @param cursor only what comes behind this {@link JobPage#next()}; null for the first page
 */
public record JobQuery(
        Set<JobStatus> statuses,
        @Nullable String kind,
        Tenants tenants,
        @Nullable Instant createdFrom,
        @Nullable Instant createdBefore,
        Set<LookupKey> keys,
        int limit,
        @Nullable String cursor) {
    /** The most jobs that one page may have. */
    public static final int MAX_LIMIT = 200;

    /** How many jobs a page has if nothing else is said. */
    public static final int DEFAULT_LIMIT = 50;

    /** The most keys that one query may name. */
    public static final int MAX_KEYS = 20;

    /** All jobs, in pages of {@value #DEFAULT_LIMIT}. */
    public static final JobQuery ALL =
            new JobQuery(Set.of(), null, new Tenants.Any(), null, null, Set.of(), DEFAULT_LIMIT, null);

    /** Whose jobs. */
    public sealed interface Tenants {
        /** Anybody's, or nobody's. */
        record Any() implements Tenants {}

        /**
         * This tenant's.
         *
         * @param id the tenant, as it was given: compared to the letter
         */
        record Only(String id) implements Tenants {
            private static final int MAX_CHARACTERS = 128;
            private static final int MAX_BYTES = 512;

            /**
             * Checks the value.
             *
             * @param id see {@link #id()}
             * @throws InvalidJobException if it is not allowed
             */
            public Only {
                Checks.text("tenant", id, MAX_CHARACTERS, MAX_BYTES);
            }
        }

        /** Nobody's: jobs without a tenant. */
        record None() implements Tenants {}
    }

    /**
     * Checks the values.
     *
     * @param statuses see {@link #statuses()}
     * @param kind see {@link #kind()}
     * @param tenants see {@link #tenants()}
     * @param createdFrom see {@link #createdFrom()}
     * @param createdBefore see {@link #createdBefore()}
     * @param keys see {@link #keys()}
     * @param limit see {@link #limit()}
     * @param cursor see {@link #cursor()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobQuery {
        if (tenants == null) {
            throw new InvalidJobException("tenants", "null", "whose jobs; Tenants.Any for anybody's");
        }
        statuses = Set.copyOf(statuses);
        keys = Set.copyOf(keys);
        if (kind != null) {
            Checks.name("kind", kind);
        }
        createdFrom = createdFrom == null ? null : Checks.instant("createdFrom", createdFrom);
        createdBefore = createdBefore == null ? null : Checks.instant("createdBefore", createdBefore);
        if (keys.size() > MAX_KEYS) {
            throw new InvalidJobException("keys", keys.size() + " keys", "at most " + MAX_KEYS);
        }
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidJobException("limit", String.valueOf(limit), "a whole number from 1 to " + MAX_LIMIT);
        }
    }

    /**
     * {@return the same of jobs with one of these statuses}
     *
     * @param values none for any status
     */
    public JobQuery withStatuses(JobStatus... values) {
        Set<JobStatus> set = EnumSet.noneOf(JobStatus.class);
        set.addAll(Arrays.asList(values));
        return new JobQuery(set, kind, tenants, createdFrom, createdBefore, keys, limit, cursor);
    }

    /** {@return the same of jobs that have not ended: queued, provisioning or running} */
    public JobQuery active() {
        return withStatuses(JobStatus.QUEUED, JobStatus.PROVISIONING, JobStatus.RUNNING);
    }

    /**
     * {@return the same of jobs of this kind}
     *
     * @param value 1 to 64 characters
     */
    public JobQuery withKind(String value) {
        return new JobQuery(statuses, value, tenants, createdFrom, createdBefore, keys, limit, cursor);
    }

    /**
     * {@return the same of jobs of this tenant}
     *
     * @param value 1 to 128 characters, compared to the letter
     */
    public JobQuery withTenant(String value) {
        return new JobQuery(statuses, kind, new Tenants.Only(value), createdFrom, createdBefore, keys, limit, cursor);
    }

    /** {@return the same of jobs without a tenant} */
    public JobQuery withoutTenant() {
        return new JobQuery(statuses, kind, new Tenants.None(), createdFrom, createdBefore, keys, limit, cursor);
    }

    /**
     * {@return the same of jobs that were created then or later}
     *
     * @param value database time, as all times of creation, cut off to microseconds
     */
    public JobQuery withCreatedFrom(Instant value) {
        return new JobQuery(statuses, kind, tenants, value, createdBefore, keys, limit, cursor);
    }

    /**
     * {@return the same of jobs that were created earlier than then}
     *
     * @param value database time, as all times of creation, cut off to microseconds
     */
    public JobQuery withCreatedBefore(Instant value) {
        return new JobQuery(statuses, kind, tenants, createdFrom, value, keys, limit, cursor);
    }

    /**
     * {@return the same of jobs of this queue; its name in upper or lower case}
     *
     * @param value 1 to 64 characters
     */
    public JobQuery withQueue(String value) {
        return with(Dimension.QUEUE, Checks.name("queue", value));
    }

    /**
     * {@return the same of jobs that can be found by this value as well}
     *
     * @param dimension what kind of value it is
     * @param value 1 to 512 characters; blanks around it and upper or lower case don't matter
     */
    public JobQuery with(Dimension dimension, String value) {
        Set<LookupKey> more = new LinkedHashSet<>(keys);
        more.add(new LookupKey(dimension, value));
        return new JobQuery(statuses, kind, tenants, createdFrom, createdBefore, more, limit, cursor);
    }

    /**
     * {@return the same in pages of this size}
     *
     * @param value 1 to {@value #MAX_LIMIT}
     */
    public JobQuery withLimit(int value) {
        return new JobQuery(statuses, kind, tenants, createdFrom, createdBefore, keys, value, cursor);
    }

    /**
     * {@return the page that begins there}
     *
     * @param next the {@link JobPage#next()} of the page before; made by {@link JobStore#query}, and for it to read
     */
    public JobQuery after(String next) {
        return new JobQuery(statuses, kind, tenants, createdFrom, createdBefore, keys, limit, next);
    }
}
