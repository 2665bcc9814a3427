package dev.millrace.roles;

import dev.millrace.SqlBlocks;
import java.nio.file.Path;
import java.util.List;

/** The SQL of {@code docs/roles.md}, in its order, for one schema and with a suffix to the names of the roles. */
final class RolesDocument {
    private static final Path DOCUMENT = Path.of("../docs/roles.md");
    private static final String ROLES = "\\b(millrace_(?:migrator|worker|submitter|reader)|shop)\\b";

    private final List<String> blocks;

    RolesDocument(String schema, String suffix, String database) {
        this.blocks = SqlBlocks.of(DOCUMENT).stream()
                // The database first: a suffix may make the role's name begin like the database's.
                .map(block -> block.replace("shop_db", database)
                        .replaceAll("\\bmillrace\\b", "\"" + schema + "\"")
                        .replaceAll(ROLES, "\"$1" + suffix + "\""))
                .toList();
    }

    String rolesAndSchema() {
        return beginningWith("CREATE ROLE");
    }

    String membership() {
        return beginningWith("GRANT \"millrace_migrator");
    }

    String connect() {
        return beginningWith("GRANT CONNECT");
    }

    String grants() {
        return beginningWith("REVOKE ALL ON SCHEMA");
    }

    String application() {
        return beginningWith("GRANT \"millrace_submitter");
    }

    String columnsForReaders() {
        return beginningWith("REVOKE SELECT");
    }

    int blocks() {
        return blocks.size();
    }

    private String beginningWith(String beginning) {
        return blocks.stream()
                .filter(block -> block.stripLeading().startsWith(beginning))
                .findFirst()
                .orElseThrow(() -> new AssertionError(DOCUMENT + " has no SQL that begins with " + beginning));
    }
}
