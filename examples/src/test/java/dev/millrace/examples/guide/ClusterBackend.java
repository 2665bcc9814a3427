package dev.millrace.examples.guide;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.backend.Retrying;
import dev.millrace.backend.StartRequest;
import dev.millrace.backend.StartResult;

// tag::backend[]
final class ClusterBackend implements Backend {
    private final Cluster cluster;

    ClusterBackend(Cluster cluster) {
        this.cluster = cluster;
    }

    @Override
    public String name() {
        return "cluster";
    }

    @Override
    public StartResult start(StartRequest request) {
        String name = nameOf(request.operation());
        cluster.createIfAbsent(name, request.job().spec().parameters().text());
        return new StartResult.Started(name);
    }

    @Override
    public Observation observe(RemoteOperation operation) {
        return switch (cluster.stateOf(nameOf(operation))) {
            case RUNNING -> Observation.Running.PLAINLY;
            case DONE -> Observation.Succeeded.PLAINLY;
            case BROKEN -> new Observation.Failed("The pod broke", Retrying.ALLOWED);
            case UNKNOWN -> new Observation.Gone();
        };
    }

    @Override
    public void cancel(RemoteOperation operation) {
        cluster.delete(nameOf(operation));
    }

    /** The same for each repetition of a start, and another one for the next attempt. */
    private static String nameOf(RemoteOperation operation) {
        return "job-" + operation.token();
    }
}
// end::backend[]
