/**
 * Shows Millrace in <a href="https://micrometer.io">Micrometer</a>: {@link dev.millrace.micrometer.MillraceMetrics} as
 * meters, {@link dev.millrace.micrometer.MillraceObservations} as observations, and so as spans of distributed traces.
 * Nothing else in the library uses Micrometer, so applications without it on their class path don't notice this package;
 * those that use it bring {@code micrometer-core}, or {@code micrometer-observation} for observations alone.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.micrometer;

import org.jspecify.annotations.NullMarked;
