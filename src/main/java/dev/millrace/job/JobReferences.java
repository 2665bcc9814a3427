package dev.millrace.job;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a job belongs to, each optional: 1 to 512 characters, at most 2,048 bytes. Lists can be filtered by most of them.
 *
 * @param workload name of the workload
 * @param definitionId the definition that the job was made from
 * @param planId the plan that the job carries out
 * @param resources what the job works on, at most 100
 * @param environment where it works
 * @param server the server that it works on
 * @param release the release that it belongs to
 * @param changeSet the change set that it belongs to
 * @param alert the alert that caused it
 * @param runId the orchestration run that it is part of
 * @param runStep its step in that run
 */
public record JobReferences(
        @Nullable String workload,
        @Nullable String definitionId,
        @Nullable String planId,
        List<String> resources,
        @Nullable String environment,
        @Nullable String server,
        @Nullable String release,
        @Nullable String changeSet,
        @Nullable String alert,
        @Nullable String runId,
        @Nullable String runStep) {
    private static final int MAX_RESOURCES = 100;

    /** No reference at all. */
    public static final JobReferences NONE =
            new JobReferences(null, null, null, null, null, null, null, null, null, null, null);

    /**
     * Checks the values, and takes the defaults for those that are null.
     *
     * @param workload see {@link #workload()}
     * @param definitionId see {@link #definitionId()}
     * @param planId see {@link #planId()}
     * @param resources see {@link #resources()}
     * @param environment see {@link #environment()}
     * @param server see {@link #server()}
     * @param release see {@link #release()}
     * @param changeSet see {@link #changeSet()}
     * @param alert see {@link #alert()}
     * @param runId see {@link #runId()}
     * @param runStep see {@link #runStep()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobReferences(
            @Nullable String workload,
            @Nullable String definitionId,
            @Nullable String planId,
            @Nullable List<String> resources,
            @Nullable String environment,
            @Nullable String server,
            @Nullable String release,
            @Nullable String changeSet,
            @Nullable String alert,
            @Nullable String runId,
            @Nullable String runStep) {
        this.workload = Checks.reference("references.workload", workload);
        this.definitionId = Checks.reference("references.definitionId", definitionId);
        this.planId = Checks.reference("references.planId", planId);
        this.resources = resources == null ? List.of() : Checks.noNulls("references.resources", resources);
        this.environment = Checks.reference("references.environment", environment);
        this.server = Checks.reference("references.server", server);
        this.release = Checks.reference("references.release", release);
        this.changeSet = Checks.reference("references.changeSet", changeSet);
        this.alert = Checks.reference("references.alert", alert);
        this.runId = Checks.reference("references.runId", runId);
        this.runStep = Checks.reference("references.runStep", runStep);
        if (this.resources.size() > MAX_RESOURCES) {
            throw new InvalidJobException(
                    "references.resources", this.resources.size() + " entries", "at most " + MAX_RESOURCES);
        }
        for (String resource : this.resources) {
            Checks.reference("references.resources", resource);
        }
    }

    /**
     * {@return these references with another workload}
     *
     * @param value see {@link #workload()}
     */
    public JobReferences withWorkload(String value) {
        return new JobReferences(
                value, definitionId, planId, resources, environment, server, release, changeSet, alert, runId, runStep);
    }

    /**
     * {@return these references with another definition}
     *
     * @param value see {@link #definitionId()}
     */
    public JobReferences withDefinitionId(String value) {
        return new JobReferences(
                workload, value, planId, resources, environment, server, release, changeSet, alert, runId, runStep);
    }

    /**
     * {@return these references with another plan}
     *
     * @param value see {@link #planId()}
     */
    public JobReferences withPlanId(String value) {
        return new JobReferences(
                workload,
                definitionId,
                value,
                resources,
                environment,
                server,
                release,
                changeSet,
                alert,
                runId,
                runStep);
    }

    /**
     * {@return these references with other resources}
     *
     * @param value see {@link #resources()}
     */
    public JobReferences withResources(List<String> value) {
        return new JobReferences(
                workload, definitionId, planId, value, environment, server, release, changeSet, alert, runId, runStep);
    }

    /**
     * {@return these references with another environment}
     *
     * @param value see {@link #environment()}
     */
    public JobReferences withEnvironment(String value) {
        return new JobReferences(
                workload, definitionId, planId, resources, value, server, release, changeSet, alert, runId, runStep);
    }

    /**
     * {@return these references with another server}
     *
     * @param value see {@link #server()}
     */
    public JobReferences withServer(String value) {
        return new JobReferences(
                workload,
                definitionId,
                planId,
                resources,
                environment,
                value,
                release,
                changeSet,
                alert,
                runId,
                runStep);
    }

    /**
     * {@return these references with another release}
     *
     * @param value see {@link #release()}
     */
    public JobReferences withRelease(String value) {
        return new JobReferences(
                workload,
                definitionId,
                planId,
                resources,
                environment,
                server,
                value,
                changeSet,
                alert,
                runId,
                runStep);
    }

    /**
     * {@return these references with another change set}
     *
     * @param value see {@link #changeSet()}
     */
    public JobReferences withChangeSet(String value) {
        return new JobReferences(
                workload, definitionId, planId, resources, environment, server, release, value, alert, runId, runStep);
    }

    /**
     * {@return these references with another alert}
     *
     * @param value see {@link #alert()}
     */
    public JobReferences withAlert(String value) {
        return new JobReferences(
                workload,
                definitionId,
                planId,
                resources,
                environment,
                server,
                release,
                changeSet,
                value,
                runId,
                runStep);
    }

    /**
     * Makes the job a step of an orchestration run.
     *
     * @param id the run
     * @param step the step, or null if it has no name
     * @return these references with the run
     */
    public JobReferences withRun(String id, @Nullable String step) {
        return new JobReferences(
                workload, definitionId, planId, resources, environment, server, release, changeSet, alert, id, step);
    }
}
