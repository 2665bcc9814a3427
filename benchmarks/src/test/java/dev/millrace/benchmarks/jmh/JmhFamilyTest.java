package dev.millrace.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.benchmarks.Size;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.postgresql.ds.PGSimpleDataSource;

class JmhFamilyTest {
    @Test
    void fullRun_warmsUpAndMeasures_asTheBenchmarksSay() {
        Options full = JmhFamily.sized(new OptionsBuilder(), Size.FULL).build();
        assertThat(full.getWarmupIterations().hasValue()).isFalse();
        assertThat(full.getMeasurementIterations().hasValue()).isFalse();
        assertThat(full.getForkCount().hasValue()).isFalse();
    }

    @Test
    void benchmarks_warmUpForThousandsOfJobs() {
        Set<BenchmarkListEntry> all = BenchmarkList.defaultList()
                .getAll(OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of());
        assertThat(all).isNotEmpty().allSatisfy(benchmark -> {
            int iterations = benchmark.getWarmupIterations().get();
            assertThat(iterations).as(benchmark.getUsername()).isEqualTo(SingleCalls.WARM_UPS);
            int calls = iterations * benchmark.getOperationsPerInvocation().orElse(1);
            int jobs = benchmark.getUsername().endsWith(".submit100")
                    ? 100
                    : benchmark.getUsername().endsWith(".submit10000") ? 10_000 : 1;
            assertThat(calls * jobs).as(benchmark.getUsername()).isGreaterThanOrEqualTo(2_000);
        });
    }

    @Test
    void url_takesAnyUserAndPassword() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(JmhServer.url("jdbc:postgresql://localhost:5432/db?sslmode=disable", "a user", "a&b=%25+c?"));
        assertThat(source.getUser()).isEqualTo("a user");
        assertThat(source.getPassword()).isEqualTo("a&b=%25+c?");
        assertThat(source.getSslMode()).isEqualTo("disable");
        assertThat(source.getDatabaseName()).isEqualTo("db");
    }
}
