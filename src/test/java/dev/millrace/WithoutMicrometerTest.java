package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.JobType;
import dev.millrace.types.JsonText;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application without Micrometer: its class path is this one's, less the jars of Micrometer. */
@MillraceDatabase
@Timeout(120)
class WithoutMicrometerTest {
    private static final List<String> LEFT_OUT =
            List.of("micrometer", "opentelemetry", "HdrHistogram", "prometheus", "context-propagation");

    /** Runs in the other class loader. */
    public static final class Application {
        private Application() {}

        public static Callable<String> on(DataSource dataSource, String schema) {
            return () -> {
                JobType<JsonText> hello = JobType.of("hello", JsonText.class);
                Millrace millrace = Millrace.on(dataSource).withSchema(schema);
                var job = millrace.submit(hello, JsonText.of("{}"));
                try (var worker = millrace.worker()
                        .handle(hello, (payload, context) -> {})
                        .listener(new dev.millrace.worker.WorkerListener() {})
                        .start()) {
                    return millrace.await(job, Duration.ofSeconds(60)).status().name();
                }
            };
        }
    }

    private static URL url(String entry) {
        try {
            return new File(entry).toURI().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }

    private static URLClassLoader withoutMicrometer() {
        String[] entries = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                .split(File.pathSeparator, -1);
        URL[] urls = Arrays.stream(entries)
                .filter(entry -> LEFT_OUT.stream()
                        .noneMatch(name -> new File(entry).getName().contains(name)))
                .map(WithoutMicrometerTest::url)
                .toArray(URL[]::new);
        return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    }

    @Test
    void application_withoutMicrometer_runsItsJobs(TestDatabase database) throws Exception {
        try (URLClassLoader loader = withoutMicrometer()) {
            assertThatThrownBy(() -> loader.loadClass("io.micrometer.core.instrument.MeterRegistry"))
                    .isInstanceOf(ClassNotFoundException.class);
            Callable<?> application = (Callable<?>) loader.loadClass(Application.class.getName())
                    .getMethod("on", DataSource.class, String.class)
                    .invoke(null, database.dataSource(), database.schema());
            assertThat(application.call()).isEqualTo("SUCCEEDED");
        }
    }

    @Test
    void everyClass_butThoseOfOnePackage_isCompleteWithoutMicrometer() throws Exception {
        Path classes = Path.of(Millrace.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (URLClassLoader loader = withoutMicrometer()) {
            List<String> names = names(classes);
            assertThat(names).hasSizeGreaterThan(100);
            for (String name : names) {
                Class<?> type = Class.forName(name, true, loader);
                assertThat(type.getDeclaredMethods()).isNotNull();
                assertThat(type.getDeclaredFields()).isNotNull();
            }
        }
    }

    private static List<String> names(Path classes) throws IOException {
        try (Stream<Path> files = Files.walk(classes.resolve("dev"))) {
            return files.map(file -> classes.relativize(file).toString())
                    .filter(file -> file.endsWith(".class") && !file.contains("micrometer"))
                    .map(file ->
                            file.substring(0, file.length() - ".class".length()).replace(File.separatorChar, '.'))
                    .toList();
        }
    }
}
