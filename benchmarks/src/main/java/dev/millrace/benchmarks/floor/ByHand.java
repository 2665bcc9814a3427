package dev.millrace.benchmarks.floor;

import dev.millrace.benchmarks.CheckFailedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A statement of the library's as one would write it by hand: its text is a constant, its values are bound one by one, its
 * columns are read by number and type. Records are read as text, and not made into jobs.
 */
public final class ByHand {
    private static final Pattern TOKENS = Pattern.compile("\\{\"[0-9a-f]{8}-.*");

    private final String sql;
    private final List<Recorder.Bind> binds;
    private final List<Class<?>> columns = new ArrayList<>();

    private ByHand(Recorder.Recorded recorded) {
        this.sql = recorded.sql();
        this.binds = recorded.binds();
    }

    /**
     * {@return the last statement of what is done, by hand}
     *
     * @param connection not in auto-commit mode; rolled back
     * @param deed what to do on a connection
     */
    public static ByHand like(Connection connection, Consumer<Connection> deed) throws SQLException {
        return new ByHand(Recorder.record(connection, deed));
    }

    /**
     * Executes it with the values that were recorded.
     *
     * @param rows how many rows it has to return
     */
    public void execute(Connection connection, int rows) throws SQLException {
        execute(connection, rows, null);
    }

    /**
     * Executes it with fresh tokens, as a claim needs them.
     *
     * @param rows how many rows it has to return, and as many tokens
     */
    public void executeWithTokens(Connection connection, int rows) throws SQLException {
        execute(
                connection,
                rows,
                Stream.generate(UUID::randomUUID)
                        .limit(rows)
                        .map(token -> '"' + token.toString() + '"')
                        .collect(Collectors.joining(",", "{", "}")));
    }

    private void execute(Connection connection, int rows, @Nullable String tokens) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (Recorder.Bind bind : binds) {
                bind(statement, bind, tokens);
            }
            try (ResultSet result = statement.executeQuery()) {
                int read = read(result);
                if (read != rows) {
                    throw new CheckFailedException(read + " rows came back of " + rows + ", of: " + sql);
                }
            }
        }
    }

    private static void bind(PreparedStatement statement, Recorder.Bind bind, @Nullable String tokens)
            throws SQLException {
        switch (bind.setter()) {
            case "setString" -> {
                String value = String.valueOf(bind.value());
                boolean replaced = tokens != null && TOKENS.matcher(value).matches();
                statement.setString(bind.position(), replaced ? tokens : value);
            }
            case "setInt" -> statement.setInt(bind.position(), (Integer) Objects.requireNonNull(bind.value()));
            case "setLong" -> statement.setLong(bind.position(), (Long) Objects.requireNonNull(bind.value()));
            case "setNull" -> statement.setNull(bind.position(), (Integer) Objects.requireNonNull(bind.value()));
            case "setObject" ->
                statement.setObject(bind.position(), bind.value(), (Integer) Objects.requireNonNull(bind.more()));
            default ->
                throw new CheckFailedException("The library binds by " + bind.setter() + ", which is not known here");
        }
    }

    private int read(ResultSet result) throws SQLException {
        if (columns.isEmpty()) {
            ResultSetMetaData meta = result.getMetaData();
            for (int column = 1; column <= meta.getColumnCount(); column++) {
                columns.add(type(meta.getColumnTypeName(column)));
            }
        }
        int rows = 0;
        @Nullable Object[] row = new Object[columns.size()];
        while (result.next()) {
            for (int column = 0; column < row.length; column++) {
                Class<?> type = columns.get(column);
                row[column] = type == String.class
                        ? result.getString(column + 1) // of whatever type
                        : result.getObject(column + 1, type);
            }
            rows++;
        }
        return rows;
    }

    private static Class<?> type(String name) {
        return switch (name) {
            case "uuid" -> UUID.class;
            case "timestamptz" -> OffsetDateTime.class;
            case "int2", "int4" -> Integer.class;
            case "int8" -> Long.class;
            case "float8" -> Double.class;
            case "bool" -> Boolean.class;
            default -> String.class;
        };
    }
}
