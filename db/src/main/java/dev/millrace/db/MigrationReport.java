package dev.millrace.db;

import org.jspecify.annotations.Nullable;

/**
 * What {@link Migrator#migrate()} did.
 *
 * @param schema the schema
 * @param versionBefore the version that the schema had, or null if there was none
 * @param versionAfter the version that it has now
 * @param appliedCount how many migrations this call applied; other nodes may have applied the rest at the same time
 */
public record MigrationReport(String schema, @Nullable String versionBefore, String versionAfter, int appliedCount) {}
