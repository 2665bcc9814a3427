package dev.millrace.roles;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;

/** The statements of {@code docs/roles.md}, the name of the schema replaced as it says there. */
@MillraceDatabase
class RolesInAnotherSchemaTest extends RolesCases {
    RolesInAnotherSchemaTest(TestDatabase neighbour) {
        super("My-Jobs", neighbour);
    }
}
