package dev.millrace.examples.first;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.examples.Program;
import org.junit.jupiter.api.Test;

class FirstExamplesTest {
    @Test
    void firstJob_runsItsJob() throws Exception {
        Program.Result result = Program.run(FirstJob.class).hasExitCode(0);

        assertThat(result.out().lines()).containsExactly("Hello, world", "SUCCEEDED");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void orderAndJob_areBothThereAfterCommitAndBothGoneAfterRollback() throws Exception {
        Program.Result result = Program.run(OrderAndJob.class).hasExitCode(0);

        assertThat(result.out().lines())
                .containsExactly(
                        "Order 1: committed. Orders: 1, jobs: 1.", "Order 2: rolled back. Orders: 0, jobs: 0.");
        assertThat(result.err()).isEmpty();
    }
}
