package dev.millrace.roles;

import dev.millrace.db.Migrator;
import dev.millrace.devdb.TestDatabase;
import javax.sql.DataSource;

/** A database that was set up as {@code docs/roles.md} says, as seen by each of its roles. */
final class Site implements AutoCloseable {
    final RoleDatabase database;
    final RolesDocument document;
    final DataSource migrator;
    final DataSource worker;
    final DataSource submitter;
    final DataSource reader;

    /** May connect, and nothing else. */
    final DataSource nobody;

    private Site(TestDatabase neighbour, String schema) {
        database = RoleDatabase.on(neighbour);
        document = new RolesDocument(schema, database.suffix(), database.name());
        database.execute(document.rolesAndSchema(), document.connect());
        migrator = login("millrace_migrator");
        worker = login("millrace_worker");
        submitter = login("millrace_submitter");
        reader = login("millrace_reader");
        nobody = database.as(database.createRole("nobody"));
    }

    /** Before the first migration. */
    static Site empty(TestDatabase neighbour, String schema) {
        return new Site(neighbour, schema);
    }

    /** Migrated, and everything granted. */
    static Site complete(TestDatabase neighbour, String schema) {
        Site site = new Site(neighbour, schema);
        Migrator.of(site.migrator, schema).migrate();
        site.grant();
        return site;
    }

    void grant() {
        RoleDatabase.execute(migrator, document.grants());
    }

    private DataSource login(String name) {
        String role = name + database.suffix();
        database.adopt(role);
        return database.as(role);
    }

    @Override
    public void close() {
        database.close();
    }
}
