import dev.millrace.Millrace;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.job.JobType;
import java.time.Duration;

public final class FirstJob {
    public static void main(String[] args) throws Exception {
        record Greeting(String name) {}
        var greet = JobType.of("greet", Greeting.class);
        try (var database = DevDatabase.start()) {
            var millrace = Millrace.on(database.dataSource());
            millrace.migrate();
            var job = millrace.submit(greet, new Greeting("world"));
            var worker = millrace.worker().handle(greet, (to, context) -> System.out.println("Hello, " + to.name()));
            try (var running = worker.start()) {
                System.out.println(millrace.await(job, Duration.ofSeconds(30)).status());
            }
        }
    }
}
