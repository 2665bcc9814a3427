/** The report: tables and plots, made of the files of results and of nothing else. */
@NullMarked
package dev.millrace.benchmarks.report;

import org.jspecify.annotations.NullMarked;
