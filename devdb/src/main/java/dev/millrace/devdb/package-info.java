/**
 * A PostgreSQL for code generation, tests and demos; never for production.
 *
 * <p>{@link dev.millrace.devdb.DevDatabase} is the way in: it uses the server that it is given, a container where a
 * Docker engine answers, or an embedded server. {@link dev.millrace.devdb.MillraceDatabase} gives a JUnit Jupiter test
 * class an empty, migrated schema of its own.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.devdb;

import org.jspecify.annotations.NullMarked;
