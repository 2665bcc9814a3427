package dev.millrace.examples.first;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.job.JobType;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** An order and the job that confirms it, in one transaction: both are there, or neither is. */
public final class OrderAndJob {
    private static final Table<Record> ORDERS = DSL.table(DSL.name("orders"));
    private static final Field<Long> NUMBER = DSL.field(DSL.name("number"), SQLDataType.BIGINT.notNull());
    private static final JobType<Confirmation> CONFIRM = JobType.of("confirm-order", Confirmation.class);

    private final DSLContext dsl;
    private final Millrace millrace;

    record Confirmation(long order) {}

    private static final class PaymentRefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private OrderAndJob(DSLContext dsl, Millrace millrace) {
        this.dsl = dsl;
        this.millrace = millrace;
    }

    public static void main(String[] args) {
        try (DevDatabase database = DevDatabase.start()) {
            OrderAndJob shop = new OrderAndJob(
                    DSL.using(database.dataSource(), SQLDialect.POSTGRES), Millrace.on(database.dataSource()));
            shop.open();
            shop.order(1, true);
            shop.order(2, false);
        }
    }

    private void open() {
        millrace.migrate();
        dsl.createTable(ORDERS).column(NUMBER).execute();
    }

    private void order(long number, boolean paid) {
        try {
            place(number, paid);
            System.out.println("Order " + number + ": committed. " + standing(number));
        } catch (PaymentRefusedException e) {
            System.out.println("Order " + number + ": rolled back. " + standing(number));
        }
    }

    // tag::transaction[]
    void place(long number, boolean paid) {
        dsl.transaction(tx -> {
            tx.dsl().insertInto(ORDERS).set(NUMBER, number).execute();
            millrace.in(tx).submit(CONFIRM, new Confirmation(number), SubmitOption.id("confirm-" + number));
            if (!paid) {
                throw new PaymentRefusedException();
            }
        });
    }
    // end::transaction[]

    private String standing(long number) {
        int orders = dsl.fetchCount(ORDERS, NUMBER.eq(number));
        int jobs = millrace.get("confirm-" + number).isPresent() ? 1 : 0;
        return "Orders: " + orders + ", jobs: " + jobs + ".";
    }
}
