package dev.millrace.process;

import static dev.millrace.process.ChildSide.say;

import dev.millrace.job.JobSpec;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * A process that claims jobs without a worker, and so has nobody that tells it to stop. Argument: under which name.
 *
 * <p>Orders: {@code claim} with a number, {@code start} with the id of a job that it has claimed, and {@code try} with
 * such an id: it then makes each write that an attempt can make and tells the answer to each, such as {@code answer job-1
 * beat LOST}.
 */
final class AttemptProcess {
    private final PostgresStore store;
    private final WorkSource work;
    private final String name;
    private final Map<String, Claim> claims = new HashMap<>();

    private AttemptProcess(PostgresStore store, String name) {
        this.store = store;
        this.work = store.work();
        this.name = name;
    }

    public static void main(String[] args) throws Exception {
        Place place = Place.ofEnvironment();
        AttemptProcess process = new AttemptProcess(PostgresStore.on(Pools.quick(place), place.schema()), args[0]);
        // A new JVM's first connection may take longer than the pool waits, and nothing here repeats a claim.
        Scene.until(() -> process.store.clock().now() != null);
        ChildSide.obey(words -> {
            switch (words[0]) {
                case "claim" -> process.claim(Integer.parseInt(words[1]));
                case "start" -> process.start(words[1]);
                default -> process.tryAll(words[1]);
            }
        });
    }

    private void claim(int number) {
        List<ClaimRequest.Source> source =
                List.of(new ClaimRequest.Source(JobSpec.DEFAULT_PROFILE, JobSpec.DEFAULT_QUEUE));
        for (Claim claim : work.claim(ClaimRequest.of(name, source, List.of(), number))) {
            claims.put(claim.job().id(), claim);
            say("claimed " + claim.job().id());
        }
    }

    private void start(String id) {
        say("started " + id + " " + work.start(claims.get(id).attempt()));
    }

    private void tryAll(String id) {
        Claim claim = claims.get(id);
        Attempt attempt = claim.attempt();
        answer(id, "start", () -> work.start(attempt));
        answer(id, "beat", () -> work.beat(List.of(attempt)).get(attempt));
        answer(id, "progress", () -> work.progress(attempt, 77.0, "late"));
        answer(id, "recover", () -> work.recover(List.of(claim.token())).size());
        answer(id, "succeed", () -> work.finish(claim, new Finish.Succeed()));
        answer(id, "fail", () -> work.finish(claim, new Finish.Fail("late", Finish.Fail.Reason.HANDLER)));
        answer(id, "retry", () -> work.finish(claim, new Finish.Retry(Duration.ZERO, "late")));
        answer(id, "cancel", () -> work.finish(claim, new Finish.Cancel()));
        answer(id, "handBack", () -> work.finish(claim, new Finish.HandBack(Duration.ZERO, "late")));
        answer(id, "requeue", () -> store.queue().requeue(attempt, Duration.ZERO));
        answer(id, "result", () -> store.results().put(attempt, JsonText.of("\"late\""), Duration.ofDays(1)));
        say("tried " + id);
    }

    private static void answer(String id, String what, Callable<Object> write) {
        String answer;
        try {
            answer = String.valueOf(write.call());
        } catch (Exception e) {
            answer = e.toString();
        }
        say("answer " + id + " " + what + " " + answer);
    }
}
