/**
 * What Millrace costs, measured. {@code Main} runs JMH's benchmarks, families of evidence, and makes the report of what these
 * have found.
 */
@NullMarked
package dev.millrace.benchmarks;

import org.jspecify.annotations.NullMarked;
