package dev.millrace.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Where something was measured. Says nothing that tells one machine from another of its kind, such as names or paths. */
final class Environment {
    private static final List<String> SETTINGS = List.of(
            "server_version",
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "wal_level",
            "wal_sync_method",
            "shared_buffers",
            "effective_cache_size",
            "work_mem",
            "maintenance_work_mem",
            "max_wal_size",
            "checkpoint_timeout",
            "max_connections",
            "autovacuum",
            "autovacuum_naptime",
            "random_page_cost",
            "jit",
            "shared_preload_libraries");

    private Environment() {}

    static Map<String, Map<String, String>> of(BenchDatabase database, double loadBefore)
            throws IOException, SQLException {
        Map<String, Map<String, String>> environment = new LinkedHashMap<>();
        environment.put("machine", machine(loadBefore));
        environment.put("jvm", jvm());
        environment.put("postgresql", postgresql(database));
        environment.put("libraries", BuildFacts.libraries());
        environment.put("sources", Map.of("commit", BuildFacts.commit()));
        return environment;
    }

    /** How many wanted to run in the last minute, or less than nothing where it is not known. */
    static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static Map<String, String> machine(double loadBefore) throws IOException {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        machine.put("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        machine.put("cpu", fromProc("cpuinfo", "model name"));
        machine.put("memory", fromProc("meminfo", "MemTotal"));
        machine.put("load before", String.format(Locale.ROOT, "%.1f", loadBefore));
        machine.put("load after", String.format(Locale.ROOT, "%.1f", load()));
        return machine;
    }

    private static String fromProc(String name, String key) throws IOException {
        Path file = Path.of("/proc", name);
        if (!Files.exists(file)) {
            return "not known";
        }
        return Files.readAllLines(file).stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("not known");
    }

    private static Map<String, String> jvm() {
        Map<String, String> jvm = new LinkedHashMap<>();
        jvm.put("vm", System.getProperty("java.vm.name"));
        jvm.put("version", System.getProperty("java.vm.version"));
        jvm.put("heap", Runtime.getRuntime().maxMemory() / 1024 / 1024 + " MB");
        return jvm;
    }

    private static Map<String, String> postgresql(BenchDatabase database) throws SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        for (String setting : SETTINGS) {
            settings.put(setting, database.text("SELECT current_setting('" + setting + "')"));
        }
        return settings;
    }
}
