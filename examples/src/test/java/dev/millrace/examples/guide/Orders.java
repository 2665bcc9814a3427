package dev.millrace.examples.guide;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** A table of the application. */
final class Orders {
    static final Field<Long> NUMBER = DSL.field(DSL.name("number"), SQLDataType.BIGINT.notNull());

    private final Table<Record> table;

    private Orders(Table<Record> table) {
        this.table = table;
    }

    static Orders create(DSLContext dsl, String schema, String name) {
        Orders orders = new Orders(DSL.table(DSL.name(schema, name)));
        dsl.createTable(orders.table).column(NUMBER).primaryKey(NUMBER).execute();
        return orders;
    }

    void insert(DSLContext dsl, long number) {
        dsl.insertInto(table).set(NUMBER, number).execute();
    }

    void insert(Connection connection, long number) throws SQLException {
        String sql = "INSERT INTO " + table.getQualifiedName() + " (number) VALUES (?)";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            insert.setLong(1, number);
            insert.executeUpdate();
        }
    }

    boolean insertIfAbsent(DSLContext dsl, long number) {
        return dsl.insertInto(table).set(NUMBER, number).onConflictDoNothing().execute() == 1;
    }

    boolean exists(DSLContext dsl, long number) {
        return dsl.fetchExists(table, NUMBER.eq(number));
    }
}
