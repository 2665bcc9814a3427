/**
 * The store on PostgreSQL, as jOOQ statements over the generated tables. One class for each interface of {@code
 * dev.millrace.store}; what several of them say (the columns of a job, the ways in which an attempt ends, the database's
 * time) is said once, in a class of its own.
 */
@NullMarked
package dev.millrace.store.postgres;

import org.jspecify.annotations.NullMarked;
