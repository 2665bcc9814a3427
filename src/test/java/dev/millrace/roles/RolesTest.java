package dev.millrace.roles;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;

/** The statements of {@code docs/roles.md} as they stand there. */
@MillraceDatabase
class RolesTest extends RolesCases {
    RolesTest(TestDatabase neighbour) {
        super("millrace", neighbour);
    }
}
