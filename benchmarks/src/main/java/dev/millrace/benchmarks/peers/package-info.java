/**
 * Other libraries for jobs on PostgreSQL, and the least that plain JDBC can do, each behind the same few commands: submit,
 * work, say what has run. Each is used through its public API only, in processes of its own.
 */
@NullMarked
package dev.millrace.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
