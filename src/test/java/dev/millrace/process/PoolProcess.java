package dev.millrace.process;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.backend.ProcessPool;
import dev.millrace.backend.ProcessPoolBuilder;
import dev.millrace.recovery.BackendReconciler;
import dev.millrace.recovery.BackendSettings;
import dev.millrace.store.LeaseSettings;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A process with a pool of processes, and a reconciler that looks after their jobs. Arguments: the pool's folder, then
 * kinds and their programs. Takes no orders.
 */
final class PoolProcess {
    private static final BackendSettings BRISK = BackendSettings.DEFAULT
            .withBackendSweepInterval(Duration.ofMillis(50))
            .withLease(new LeaseSettings(Duration.ofMillis(1_000), Duration.ofMillis(300)));

    private PoolProcess() {}

    public static void main(String[] args) throws Exception {
        Place place = Place.ofEnvironment();
        HikariDataSource connections = Pools.quick(place);
        Millrace millrace = Millrace.on(connections).withSchema(place.schema());
        Scene.until(() -> millrace.clock().now() != null);
        ProcessPoolBuilder builder = ProcessPool.in(Path.of(args[0])).logs(millrace.logs());
        for (int i = 1; i < args.length; i += 2) {
            builder.run(args[i], Path.of(args[i + 1]));
        }
        ProcessPool pool = builder.open();
        BackendReconciler reconciler = millrace.backendReconciler(BRISK, pool);
        reconciler.start();
        ChildSide.obey(words -> {});
    }
}
