package dev.millrace.examples.first;

// tag::first[]
import dev.millrace.Millrace;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.job.JobType;
import java.time.Duration;

public final class FirstJob {
    record Greeting(String name) {}

    public static void main(String[] args) throws Exception {
        var greet = JobType.of("greet", Greeting.class);
        try (var database = DevDatabase.start()) {
            var millrace = Millrace.on(database.dataSource());
            millrace.migrate();
            var job = millrace.submit(greet, new Greeting("world"));
            try (var worker = millrace.worker()
                    .handle(greet, (greeting, context) -> System.out.println("Hello, " + greeting.name() + "!"))
                    .start()) {
                System.out.println(millrace.await(job, Duration.ofSeconds(30)).status());
            }
        }
    }
}
// end::first[]
