/**
 * The model: what a job is, what it was asked to do, where it stands and how it ended. Immutable records without SQL
 * or I/O. Each checks what it is given, so that an invalid job can't be built, let alone stored.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.job;

import org.jspecify.annotations.NullMarked;
