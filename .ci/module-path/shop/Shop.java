package shop;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.Millrace;
import dev.millrace.db.Migrator;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.job.JobType;
import dev.millrace.testkit.TestKit;
import java.time.Duration;
import java.util.List;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;

/** Touches each of the library's modules on a real server: migrations, tables, a worker, the development database,
 * the test kit. */
public final class Shop {

    record Order(int number) {}

    public static void main(String[] args) throws Exception {
        var confirm = JobType.of("confirm", Order.class);
        try (var database = DevDatabase.start()) {
            var millrace = Millrace.on(database.dataSource());
            millrace.migrate();
            TestKit.on(millrace).assertNothingSubmitted();
            var schema = Migrator.of(database.dataSource()).state();
            var job = millrace.submit(confirm, new Order(7));
            var worker = millrace.worker()
                    .handle(confirm, (order, context) -> System.out.println("Confirmed order " + order.number()));
            try (var running = worker.start()) {
                millrace.await(job, Duration.ofSeconds(60));
            }
            int jobs = DSL.using(database.dataSource(), SQLDialect.POSTGRES).fetchCount(EXECUTION_JOBS);
            System.out.println("Schema " + schema.status() + ", " + jobs + " job");
            for (var type : List.of(
                    Millrace.class, Migrator.class, DevDatabase.class, TestKit.class, EXECUTION_JOBS.getClass())) {
                System.out.println(type.getName() + " is in " + type.getModule());
            }
        }
    }
}
