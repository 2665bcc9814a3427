package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.jdbcjobstore.JobStoreTX;
import org.quartz.impl.jdbcjobstore.PostgreSQLDelegate;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Quartz with its JDBC job store: each job has a detail with its payload, and a trigger that fires once, now. */
final class QuartzEngine implements Engine {
    private static final String TABLES = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    private static final String POOL = "bench";
    private static final String PAYLOAD = "payload";
    private static final int PORTION = 1_000;

    private final Map<String, String> settings;

    /** @param settings what is not as by default, by the names of Quartz's properties */
    QuartzEngine(Map<String, String> settings) {
        this.settings = Map.copyOf(settings);
    }

    /** A job of Quartz. */
    static final class Noop implements Job {
        private final Recorder recorder;

        Noop(Recorder recorder) {
            this.recorder = recorder;
        }

        @Override
        public void execute(JobExecutionContext context) {
            recorder.ran(Payload.index(context.getJobDetail().getJobDataMap().getString(PAYLOAD)));
        }
    }

    private record Pool(HikariDataSource pool) implements ConnectionProvider {
        @Override
        public Connection getConnection() throws SQLException {
            return pool.getConnection();
        }

        @Override
        public void initialize() {}

        @Override
        public void shutdown() {
            pool.close();
        }
    }

    @Override
    public void prepare(BenchDatabase database) throws IOException, SQLException {
        try (InputStream tables = Scheduler.class.getResourceAsStream(TABLES)) {
            if (tables == null) {
                throw new IOException("Quartz does not come with " + TABLES);
            }
            database.execute(new String(tables.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Override
    public Submitter submitter(PeerDatabase database) throws SchedulerException, SQLException {
        Scheduler scheduler = scheduler(database.pool(2), 1);
        return new Submissions(scheduler);
    }

    @Override
    public Working worker(PeerDatabase database, int concurrency, Recorder recorder)
            throws SchedulerException, SQLException {
        Scheduler scheduler = scheduler(database.workerPool(concurrency), concurrency);
        scheduler.setJobFactory((bundle, ignored) -> new Noop(recorder));
        return new Running(scheduler);
    }

    private Scheduler scheduler(HikariDataSource pool, int concurrency) throws SchedulerException {
        DBConnectionManager.getInstance().addConnectionProvider(POOL, new Pool(pool));
        Properties properties = new Properties();
        properties.setProperty("org.quartz.scheduler.instanceName", "bench");
        properties.setProperty("org.quartz.scheduler.instanceId", "AUTO");
        properties.setProperty("org.quartz.threadPool.threadCount", Integer.toString(concurrency));
        properties.setProperty("org.quartz.jobStore.class", JobStoreTX.class.getName());
        properties.setProperty("org.quartz.jobStore.driverDelegateClass", PostgreSQLDelegate.class.getName());
        properties.setProperty("org.quartz.jobStore.dataSource", POOL);
        properties.setProperty("org.quartz.jobStore.isClustered", "true");
        settings.forEach(properties::setProperty);
        return new StdSchedulerFactory(properties).getScheduler();
    }

    private static JobDetail job(int index) {
        return JobBuilder.newJob(Noop.class)
                .withIdentity(Integer.toString(index))
                .usingJobData(PAYLOAD, Payload.text(index))
                .build();
    }

    private static Trigger now(int index) {
        return TriggerBuilder.newTrigger()
                .withIdentity(Integer.toString(index))
                .startNow()
                .build();
    }

    private record Submissions(Scheduler scheduler) implements Submitter {
        @Override
        public void one(int index) throws SchedulerException {
            scheduler.scheduleJob(job(index), now(index));
        }

        @Override
        public void many(int from, int to) throws SchedulerException {
            for (int begin = from; begin < to; begin += PORTION) {
                Map<JobDetail, Set<? extends Trigger>> jobs = new HashMap<>();
                for (int index = begin; index < Math.min(to, begin + PORTION); index++) {
                    jobs.put(job(index), Set.of(now(index)));
                }
                scheduler.scheduleJobs(jobs, false);
            }
        }

        @Override
        public void close() {
            shutdown(scheduler);
        }
    }

    private record Running(Scheduler scheduler) implements Working {
        @Override
        public void start() throws SchedulerException {
            scheduler.start();
        }

        @Override
        public Submitter here() {
            return new Submissions(scheduler);
        }

        @Override
        public void close() {
            shutdown(scheduler);
        }
    }

    private static void shutdown(Scheduler scheduler) {
        try {
            scheduler.shutdown(true);
        } catch (SchedulerException e) {
            throw new IllegalStateException(e);
        }
    }
}
