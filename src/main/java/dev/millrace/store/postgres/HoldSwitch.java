package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;

import org.jooq.Condition;
import org.jooq.impl.DSL;

/**
 * The switch that stops claims and recovery: a row of that name in the table of controls.
 *
 * <p>It is checked inside the statements that it stops, so that no process can miss it. {@link #NOT_HELD} refers to no
 * other table, so PostgreSQL evaluates it once for a statement, and reads nothing else where it is false.
 */
final class HoldSwitch {
    static final String NAME = "hold";

    /** Nobody has stopped claims and recovery. (By a value, since {@code notExists} takes another type in newer releases of jOOQ.) */
    static final Condition NOT_HELD = DSL.field(
                    DSL.select(CONTROLS.NAME).from(CONTROLS).where(CONTROLS.NAME.eq(DSL.inline(NAME))))
            .isNull();

    private HoldSwitch() {}
}
