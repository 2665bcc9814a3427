/** The schema of Millrace: its Flyway migrations, and the migrator that applies them. */
@NullMarked
package dev.millrace.db;

import org.jspecify.annotations.NullMarked;
