package com.example.shop;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Orders, each with a job that confirms it: both are there, or neither is. */
@Service
public class Orders {
    static final JobType<Confirmation> CONFIRM = JobType.of("confirm-order", Confirmation.class);

    private static final Table<Record> ORDERS = DSL.table(DSL.name("orders"));
    private static final Field<Long> NUMBER = DSL.field(DSL.name("number"), SQLDataType.BIGINT);
    private static final Field<Boolean> CONFIRMED = DSL.field(DSL.name("confirmed"), SQLDataType.BOOLEAN);

    private final DSLContext dsl;
    private final JdbcTemplate jdbc;
    private final Millrace millrace;

    public Orders(DSLContext dsl, JdbcTemplate jdbc, Millrace millrace) {
        this.dsl = dsl;
        this.jdbc = jdbc;
        this.millrace = millrace;
    }

    public record Confirmation(long order) {}

    public static class PaymentRefusedException extends RuntimeException {}

    // tag::spring[]
    /** With jOOQ: Spring Boot's {@code DSLContext} works on the connection of Spring's transaction. */
    @Transactional
    public void place(long number, boolean paid) {
        dsl.insertInto(ORDERS).set(NUMBER, number).execute();
        millrace.in(dsl.configuration()).submit(CONFIRM, new Confirmation(number), SubmitOption.id(jobId(number)));
        requirePaid(paid);
    }
    // end::spring[]

    /** With Spring's JDBC, which lends the connection of its transaction. */
    @Transactional
    public void placeByJdbc(long number, boolean paid) {
        jdbc.update("INSERT INTO orders (number) VALUES (?)", number);
        jdbc.execute((ConnectionCallback<Job>) connection -> millrace.in(connection)
                .submit(CONFIRM, new Confirmation(number), SubmitOption.id(jobId(number))));
        requirePaid(paid);
    }

    /** What the job does. It may run more than once, and may: to confirm twice is to confirm. */
    @Transactional
    public void confirm(Confirmation confirmation) {
        dsl.update(ORDERS)
                .set(CONFIRMED, true)
                .where(NUMBER.eq(confirmation.order()))
                .execute();
    }

    public boolean exists(long number) {
        return dsl.fetchExists(ORDERS, NUMBER.eq(number));
    }

    public boolean isConfirmed(long number) {
        return dsl.fetchExists(ORDERS, NUMBER.eq(number).and(CONFIRMED.isTrue()));
    }

    static String jobId(long number) {
        return "confirm-" + number;
    }

    private static void requirePaid(boolean paid) {
        if (!paid) {
            throw new PaymentRefusedException();
        }
    }
}
