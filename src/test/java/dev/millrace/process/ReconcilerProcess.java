package dev.millrace.process;

import static dev.millrace.process.ChildSide.say;

import dev.millrace.Millrace;
import dev.millrace.recovery.JobReconciler;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A process with a reconciler and no worker. Argument: {@code quick} or {@code usual}, for the pool. It connects and
 * begins by the order {@code watch}; the order {@code status} with a number is answered with {@code status}, the number,
 * and a {@link Watch}.
 */
final class ReconcilerProcess {
    private final Place place = Place.ofEnvironment();
    private final String poolName;
    private @Nullable JobReconciler reconciler;

    private ReconcilerProcess(String poolName) {
        this.poolName = poolName;
    }

    public static void main(String[] args) throws Exception {
        ReconcilerProcess process = new ReconcilerProcess(args[0]);
        ChildSide.obey(words -> {
            switch (words[0]) {
                case "watch" -> process.watch();
                default -> say("status " + words[1] + " " + Watch.of(Objects.requireNonNull(process.reconciler)));
            }
        });
    }

    private void watch() {
        DataSource pool = poolName.equals("quick") ? Pools.quick(place) : Pools.usual(place);
        reconciler = Millrace.on(pool).withSchema(place.schema()).reconciler(Scene.sweeping());
        reconciler.start();
    }
}
