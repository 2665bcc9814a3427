package dev.millrace.worker;

import dev.millrace.store.Attempt;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.Optional;

/**
 * Results, for {@link InlineWorker}: a database that is out of reach is the handler's failure, rather than waited for without
 * an end.
 */
final class OneTryResults implements ResultPackageStore {
    private final ResultPackageStore results;

    OneTryResults(ResultPackageStore results) {
        this.results = results;
    }

    @Override
    public boolean put(Attempt attempt, JsonText result, Duration retention) {
        try {
            return results.put(attempt, result, retention);
        } catch (StoreUnavailableException e) {
            throw new StoreException("The result can't be stored: " + e.getMessage(), e);
        }
    }

    @Override
    public void put(String jobId, JsonText result, Duration retention) {
        results.put(jobId, result, retention);
    }

    @Override
    public Optional<JsonText> get(String jobId) {
        return results.get(jobId);
    }
}
