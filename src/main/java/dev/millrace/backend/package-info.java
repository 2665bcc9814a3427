/**
 * Jobs that something else than a worker runs: a cluster, a cloud's batch service, or executables on this machine.
 * {@link dev.millrace.backend.Backend} is what to implement for that; {@link dev.millrace.backend.ProcessPool} is one
 * that is there.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.backend;

import org.jspecify.annotations.NullMarked;
