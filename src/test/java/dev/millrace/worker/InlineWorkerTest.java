package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.CODEC;
import static dev.millrace.worker.WorkerFixture.WORK;
import static dev.millrace.worker.WorkerFixture.attempts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadException;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts on the caller's own thread; what they write is a worker's, and what fails is the caller's to know. */
@Timeout(60)
class InlineWorkerTest {
    private static final List<ClaimRequest.Source> SOURCE = List.of(new ClaimRequest.Source("managed", "default"));
    private static final InlineWorker.Around PLAIN = handler -> handler.call();

    private final FakeSource source = new FakeSource();
    private final List<String> events = new ArrayList<>();
    private final InlineWorker.Stores stores = new InlineWorker.Stores(source, null, new UnavailableResults());
    private final InlineWorker worker = Worker.on(source, CODEC)
            .settings(settings -> settings.withName("inline"))
            .handle(WORK, (payload, context) -> events.add("handled by " + context.worker()))
            .inline();

    private Claim claimed(String parameters, JobPolicies policies) {
        source.submit("work", parameters, policies);
        return source.claim(ClaimRequest.of("inline", SOURCE, List.of("work"), 1))
                .get(0);
    }

    private Claim claimed() {
        return claimed("{}", BRISK);
    }

    @Test
    void run_promotesHandlesAndFinishes_eachOnce_withinWhatIsAround() {
        Claim claim = claimed();
        InlineRun run = worker.run(stores, claim, handler -> {
            events.add("before, " + source.status(claim.job().id()));
            handler.call();
            events.add("after");
        });
        assertThat(run).isEqualTo(new InlineRun(true, null));
        assertThat(events).containsExactly("before, RUNNING", "handled by inline", "after");
        assertThat(source.status(claim.job().id())).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(source.calls(Op.START)).isOne();
        assertThat(source.calls(Op.FINISH)).isOne();
        assertThat(source.calls(Op.BEAT)).isZero();
    }

    @Test
    void failureOfTheHandler_orOfWhatIsAround_isRetriedAsThePolicySays() {
        IllegalStateException failure = new IllegalStateException("broken");
        Claim claim = claimed("{}", attempts(2));
        InlineRun run = worker.run(stores, claim, handler -> {
            handler.call();
            throw failure;
        });
        assertThat(run).isEqualTo(new InlineRun(true, failure));
        assertThat(source.endings(claim.job().id()))
                .singleElement()
                .isInstanceOfSatisfying(
                        Finish.Retry.class, retry -> assertThat(retry.message()).contains("broken"));
    }

    @Test
    void unreadablePayload_isSeen() {
        InlineRun run = worker.run(stores, claimed("{\"undecodable\":1}", attempts(2)), PLAIN);
        assertThat(run.handled()).isFalse();
        assertThat(run.thrown()).isInstanceOf(PayloadException.class);
        assertThat(events).isEmpty();
    }

    @Test
    void jobThatIsToBeCancelled_isNotHandled() {
        Claim claim = claimed();
        source.cancel(claim.job().id());
        assertThat(worker.run(stores, claim, PLAIN)).isEqualTo(new InlineRun(false, null));
        assertThat(source.status(claim.job().id())).isEqualTo(JobStatus.CANCELLED);
    }

    /** A worker would ask until it is answered; here there is nobody to end that. */
    @Test
    void promotionThatFails_isTheCallersToKnow_andRunsNothing() {
        source.always(Op.START, Fault.down());
        assertThatThrownBy(() -> worker.run(stores, claimed(), PLAIN)).isInstanceOf(StoreUnavailableException.class);
        assertThat(source.calls(Op.START)).isOne();
        assertThat(source.calls(Op.FINISH)).isZero();
        assertThat(events).isEmpty();
    }

    @Test
    void outcomeThatCannotBeWritten_isTheCallersToKnow_andTriedOnce() {
        source.always(Op.FINISH, Fault.failing(() -> new StoreException("syntax", null)));
        assertThatThrownBy(() -> worker.run(stores, claimed(), PLAIN))
                .isInstanceOf(StoreException.class)
                .hasMessage("syntax");
        source.always(Op.FINISH, Fault.failing(() -> new IllegalStateException("no transaction")));
        assertThatThrownBy(() -> worker.run(stores, claimed(), PLAIN)).hasMessage("no transaction");
        assertThat(source.calls(Op.FINISH)).isEqualTo(2);
        assertThat(events).hasSize(2);
    }

    @Test
    void resultThatCannotBeStored_isTheHandlersFailure_ratherThanWaitedFor() {
        InlineWorker leaving = Worker.on(source, CODEC)
                .handle(WORK, (payload, context) -> context.resultPackage("a result"))
                .inline();
        Claim claim = claimed("{}", attempts(2));
        InlineRun run = leaving.run(stores, claim, PLAIN);
        assertThat(run.thrown()).isInstanceOf(StoreException.class).hasMessageContaining("out of reach");
        assertThat(source.endings(claim.job().id())).singleElement().isInstanceOf(Finish.Retry.class);
    }

    @Test
    void handlersAreAdded_toACopy() {
        JobType<String> other = JobType.of("other", String.class);
        InlineWorker more = worker.handle(other, (payload, context) -> {});
        assertThat(more.kinds()).containsExactly("work", "other");
        assertThat(worker.kinds()).containsExactly("work");
        assertThat(worker.name()).isEqualTo("inline");
        assertThatThrownBy(() -> more.handle(WORK, (payload, context) -> {}))
                .isInstanceOf(InvalidWorkerException.class)
                .hasMessageContaining("a second handler for the kind \"work\"");
    }

    private static final class UnavailableResults implements ResultPackageStore {
        @Override
        public boolean put(Attempt attempt, JsonText result, Duration retention) {
            throw new StoreUnavailableException("out of reach", null);
        }

        @Override
        public void put(String jobId, JsonText result, Duration retention) {
            throw new StoreUnavailableException("out of reach", null);
        }

        @Override
        public Optional<JsonText> get(String jobId) {
            return Optional.empty();
        }
    }
}
