/**
 * Durable jobs on PostgreSQL. {@link dev.millrace.Millrace} is the way in.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace;

import org.jspecify.annotations.NullMarked;
