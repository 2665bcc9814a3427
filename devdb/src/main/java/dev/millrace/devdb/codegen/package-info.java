/**
 * Generates the jOOQ classes of {@code millrace-jooq} from the migrations, and checks that those that are checked in are
 * up to date.
 */
@NullMarked
package dev.millrace.devdb.codegen;

import org.jspecify.annotations.NullMarked;
