package dev.millrace.devdb;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** As whom tests connect to the databases that {@link MillraceDatabase} gives them. */
enum TestRole {
    /** As the server's user, which in a container and in an embedded server may do everything. */
    SERVER,

    /**
     * As a role that owns the schema and may do nothing else: no superuser, no CREATE and no TEMPORARY on the database,
     * a search path with nothing in it, no schema {@code public}.
     */
    OWNER;

    static TestRole of(Optional<String> setting) {
        if (setting.isEmpty()) {
            return SERVER;
        }
        return Arrays.stream(values())
                .filter(role -> role.settingName().equals(setting.get()))
                .findFirst()
                .orElseThrow(() -> new DevDatabaseException("The setting " + Settings.ROLE + " is \"" + setting.get()
                        + "\"; allowed are "
                        + Arrays.stream(values()).map(TestRole::settingName).collect(Collectors.joining(", "))
                        + "."));
    }

    private String settingName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
