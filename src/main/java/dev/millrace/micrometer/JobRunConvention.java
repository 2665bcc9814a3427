package dev.millrace.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** How a run is named and tagged unless the application has a convention of its own. */
final class JobRunConvention implements ObservationConvention<JobRunContext> {
    private static final String OUTCOME = "outcome";

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof JobRunContext;
    }

    @Override
    public String getName() {
        return MillraceObservations.RUN;
    }

    @Override
    public String getContextualName(JobRunContext context) {
        return "run " + context.run().job().kind();
    }

    /** Asked when the run begins and when it is over. */
    @Override
    public KeyValues getLowCardinalityKeyValues(JobRunContext context) {
        return KeyValues.of(
                KeyValue.of("kind", context.run().job().kind()),
                KeyValue.of("queue", context.run().job().spec().queue()),
                KeyValue.of(OUTCOME, outcome(context)));
    }

    /** What the handler did. What that makes of the job is said by the meters, once it is written. */
    private static String outcome(JobRunContext context) {
        if (context.getError() != null) {
            return "failed";
        }
        return context.<String>getOrDefault(OUTCOME, "none");
    }

    static void outcome(JobRunContext context, String value) {
        context.put(OUTCOME, value);
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(JobRunContext context) {
        KeyValues values = KeyValues.of(
                KeyValue.of("millrace.job", context.run().job().id()),
                KeyValue.of("millrace.attempt", String.valueOf(context.run().attempt())),
                KeyValue.of("millrace.worker", context.run().worker()));
        return context.link()
                .map(link -> values.and(KeyValue.of("millrace.link", link.traceparent())))
                .orElse(values);
    }
}
