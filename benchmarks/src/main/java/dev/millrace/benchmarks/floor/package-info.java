/** What a typed statement costs beyond the same SQL by hand, over JDBC. */
@NullMarked
package dev.millrace.benchmarks.floor;

import org.jspecify.annotations.NullMarked;
