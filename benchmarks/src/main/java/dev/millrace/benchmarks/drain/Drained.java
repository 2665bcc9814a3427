package dev.millrace.benchmarks.drain;

/**
 * What one drain has shown.
 *
 * @param portions of how many jobs, and how they were submitted
 * @param oneRate jobs submitted a second, each in a transaction of its own, after as many that don't count; no number if none
 *     were
 * @param manyRate jobs submitted a second in bulk, after some that don't count
 * @param oneWal bytes of WAL for each job of those submitted by itself, without full-page images
 * @param manyWal the same of those submitted in bulk
 * @param rate jobs a second from the moment that workers are told to start until all are finished
 * @param secondHalfRate the same from the moment that half of them have begun
 * @param firstSeconds from the moment that workers are told to start until the first handler begins
 * @param wal bytes of WAL for each job from there to the end, without full-page images
 * @param fullPageWal bytes of full-page images for each job, after a checkpoint
 * @param statements for each job, BEGIN and COMMIT aside
 * @param transactions committed for each job
 * @param processorMillis how long the workers kept processors busy for each job, compiling their code included
 * @param serverProcessorMillis the same of all processes of the server, its background ones included; no number where the
 *     system does not tell
 * @param repeated how many handlers were run more than once
 */
record Drained(
        DrainPortions portions,
        double oneRate,
        double manyRate,
        double oneWal,
        double manyWal,
        double rate,
        double secondHalfRate,
        double firstSeconds,
        double wal,
        double fullPageWal,
        double statements,
        double transactions,
        double processorMillis,
        double serverProcessorMillis,
        long repeated) {}
