/** JMH's benchmarks: what single calls cost. Each makes sure that it did what it measures. */
@NullMarked
package dev.millrace.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
