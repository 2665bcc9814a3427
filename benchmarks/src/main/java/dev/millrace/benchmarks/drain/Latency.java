package dev.millrace.benchmarks.drain;

/**
 * How soon the handler of one job began, in milliseconds.
 *
 * @param fromReturn from the moment that its submission had returned; less than nothing if it began before that
 * @param fromCall from the moment before its submission was called
 */
record Latency(double fromReturn, double fromCall) {}
