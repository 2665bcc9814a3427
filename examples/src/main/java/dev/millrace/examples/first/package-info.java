/**
 * The two programs that the README shows: {@code FirstJob} submits a job and runs it, {@code OrderAndJob} submits one in
 * the transaction of a business row.
 */
@NullMarked
package dev.millrace.examples.first;

import org.jspecify.annotations.NullMarked;
