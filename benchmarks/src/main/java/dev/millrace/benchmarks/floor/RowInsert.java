package dev.millrace.benchmarks.floor;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/** The row that a submission makes, inserted by hand: another id in each, the server's time, all else as it was. */
final class RowInsert {
    private static final Set<String> TIMES = Set.of("created_at", "updated_at", "queue_visible_at");

    private final String sql;
    private final List<String> values = new ArrayList<>();
    private final List<String> columns = new ArrayList<>();
    private final String template;

    /**
     * @param connection to where the job is
     * @param template the id of a job that was submitted and not claimed
     */
    RowInsert(Connection connection, String template) throws SQLException {
        this.template = template;
        Map<String, String> expressions = new LinkedHashMap<>();
        for (Map.Entry<String, String> column : types(connection).entrySet()) {
            String value = value(connection, column.getKey());
            if (value == null) {
                continue;
            }
            if (TIMES.contains(column.getKey())) {
                expressions.put(column.getKey(), "statement_timestamp()");
            } else if (column.getKey().equals("expires_at")) {
                expressions.put(column.getKey(), "statement_timestamp() + interval '7 days'");
            } else {
                expressions.put(column.getKey(), "?::" + column.getValue());
                columns.add(column.getKey());
                values.add(value);
            }
        }
        sql = "INSERT INTO " + BenchDatabase.JOBS + " (" + String.join(", ", expressions.keySet()) + ") VALUES ("
                + String.join(", ", expressions.values()) + ")";
    }

    private static Map<String, String> types(Connection connection) throws SQLException {
        Map<String, String> types = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
                                + " WHERE attrelid = '" + BenchDatabase.JOBS
                                + "'::regclass AND attnum > 0 AND NOT attisdropped"
                                + " ORDER BY attnum")) {
            while (rows.next()) {
                types.put(rows.getString(1), rows.getString(2));
            }
        }
        return types;
    }

    private String value(Connection connection, String column) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT " + column + "::text FROM " + BenchDatabase.JOBS + " WHERE operation_id = ?")) {
            statement.setString(1, template);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    throw new CheckFailedException("There is no job " + template + " to be copied");
                }
                return rows.getString(1);
            }
        }
    }

    /** Inserts one more. */
    void insert(Connection connection) throws SQLException {
        String id = id();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int at = 0; at < values.size(); at++) {
                String value = switch (columns.get(at)) {
                    case "operation_id" -> id;
                    case "record" -> values.get(at).replace(template, id);
                    default -> values.get(at);
                };
                statement.setString(at + 1, value);
            }
            if (statement.executeUpdate() != 1) {
                throw new CheckFailedException("No row was inserted");
            }
        }
    }

    /** In the order of time, as the library's own are. */
    private static String id() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new UUID((System.currentTimeMillis() << 16) | 0x7000L | random.nextInt(0x1000), random.nextLong())
                .toString();
    }

    @Override
    public String toString() {
        return columns.stream().collect(Collectors.joining(", ", sql + " of ", ""));
    }
}
