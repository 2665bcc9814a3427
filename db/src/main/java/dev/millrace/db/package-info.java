/**
 * The schema of Millrace: its Flyway migrations, and the migrator that applies them.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.db;

import org.jspecify.annotations.NullMarked;
