package dev.millrace.examples.testing;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.queue;

import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
import dev.millrace.job.JobType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** What is tested in the guide: a shop that ships its orders by jobs, and reminds of those that are not paid. */
final class Shop {
    private static final Field<Long> NUMBER = DSL.field(DSL.name("number"), SQLDataType.BIGINT.notNull());

    record Ship(long order) {}

    record Remind(long order) {}

    static final JobType<Ship> SHIP = JobType.of("ship", Ship.class);
    static final JobType<Remind> REMIND = JobType.of("remind", Remind.class);

    /** Takes parcels, unless it is closed. */
    static final class Carrier {
        private final List<Long> parcels = new ArrayList<>();
        private boolean closed;

        void take(long order) {
            if (closed) {
                throw new IllegalStateException("The carrier is closed");
            }
            parcels.add(order);
        }

        void close() {
            closed = true;
        }

        void open() {
            closed = false;
        }

        List<Long> parcels() {
            return parcels;
        }
    }

    private final DSLContext dsl;
    private final Millrace millrace;
    private final Carrier carrier;
    private final Table<Record> orders;
    private final TreeSet<Long> reminded = new TreeSet<>();

    Shop(DSLContext dsl, Millrace millrace, Carrier carrier) {
        this.dsl = dsl;
        this.millrace = millrace;
        this.carrier = carrier;
        this.orders = DSL.table(DSL.name(millrace.schema(), "shop_orders"));
        dsl.createTableIfNotExists(orders).column(NUMBER).execute();
    }

    Shop(DataSource dataSource, Millrace millrace, Carrier carrier) {
        this(DSL.using(dataSource, SQLDialect.POSTGRES), millrace, carrier);
    }

    /** An order and its jobs: all of them are there, or none. */
    void place(long order) {
        dsl.transaction(tx -> {
            tx.dsl().insertInto(orders).set(NUMBER, order).execute();
            millrace.in(tx).submit(SHIP, new Ship(order), queue("parcels"));
            millrace.in(tx).submit(REMIND, new Remind(order), delay(Duration.ofDays(14)));
        });
    }

    /** The worker as the shop runs it, not started yet. */
    WorkerBuilder worker() {
        return millrace.worker()
                .queues("default", "parcels")
                .handle(SHIP, (ship, context) -> carrier.take(ship.order()))
                .handle(REMIND, (remind, context) -> reminded.add(remind.order()));
    }

    int orders() {
        return dsl.fetchCount(orders);
    }

    List<Long> reminded() {
        return List.copyOf(reminded);
    }
}
