/** How fast queues are drained, and how soon single jobs are picked up, by Millrace and by others. */
@NullMarked
package dev.millrace.benchmarks.drain;

import org.jspecify.annotations.NullMarked;
