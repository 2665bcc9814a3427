package dev.millrace.recovery;

import dev.millrace.store.Controls;
import dev.millrace.store.JobStore;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.RemoteJobs;
import dev.millrace.store.ResultPackageStore;

/**
 * What a {@link BackendReconciler} reads and writes. All of one schema of one database.
 *
 * @param reconcilable finds the jobs for which something may have to be done
 * @param remote writes their attempts
 * @param jobs changes jobs that have no attempt
 * @param leases holds jobs; should repeat a failed renewal by itself, as one lost connection would end a lease
 *     otherwise
 * @param results keeps results
 * @param controls tells whether recovery is stopped
 */
public record BackendStores(
        ReconcilableJobs reconcilable,
        RemoteJobs remote,
        JobStore jobs,
        LeaseStore leases,
        ResultPackageStore results,
        Controls controls) {}
