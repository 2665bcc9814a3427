package dev.millrace.benchmarks.peers;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.ChildJvm;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * In JVMs with the class path of this one, each with a heap and compiled code of its own.
 *
 * @param engine its name among {@link Engines}
 */
record JavaLaunch(String engine) implements Launch {
    @Override
    public void prepare(BenchDatabase database) throws Exception {
        Engines.named(engine).prepare(database);
    }

    @Override
    public Peer start(BenchDatabase database, Role role, int concurrency, int capacity)
            throws IOException, InterruptedException {
        List<String> command = ChildJvm.command(
                PeerProcess.class,
                List.of("-Xmx512m"),
                List.of(
                        engine,
                        role.name().toLowerCase(Locale.ROOT),
                        Integer.toString(concurrency),
                        Integer.toString(capacity)));
        Map<String, String> environment = Map.of(
                PeerDatabase.URL,
                database.jdbcUrl(),
                PeerDatabase.USER,
                database.user(),
                PeerDatabase.PASSWORD,
                database.password());
        return Peer.start(engine, command, environment);
    }
}
