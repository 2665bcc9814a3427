package dev.millrace.db;

import java.util.List;
import javax.sql.DataSource;

/** Migrates as an older release would. */
public final class OlderLibrary {
    private OlderLibrary() {}

    /** A migrator that does not know the newest migration yet. */
    public static Migrator oneVersionBehind(DataSource dataSource, String schema) {
        int newest = Integer.parseInt(Migrator.of(dataSource, schema).state().libraryVersion());
        return Migrator.of(dataSource, schema, List.of(Migrations.LOCATION), String.valueOf(newest - 1));
    }
}
