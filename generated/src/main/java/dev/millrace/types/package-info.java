/**
 * The types of the columns that SQL alone describes too loosely: enums for their values, and the converters that the
 * generated tables in {@code dev.millrace.jooq} use. Written by hand, unlike those tables.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.types;

import org.jspecify.annotations.NullMarked;
