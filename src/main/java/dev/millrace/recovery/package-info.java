/**
 * What goes on without a worker: jobs whose worker has died run again, jobs that take too long end, jobs that lost their
 * place in the queue get it back, what has outlived its retention goes. Any number of processes may do this at once;
 * each step is fenced in the database.
 */
@NullMarked
package dev.millrace.recovery;

import org.jspecify.annotations.NullMarked;
