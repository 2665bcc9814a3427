package com.example.shop;

import dev.millrace.Millrace;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.AvailabilityState;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Makes the readiness of the jobs' database that of the application, and a worker that can't go on the end of its liveness:
 * what Spring Boot's actuator, if it is there, shows to Kubernetes as {@code /actuator/health/readiness} and {@code
 * liveness}.
 */
@Component
class JobsAvailability {
    private final Millrace millrace;
    private final JobRunner jobs;
    private final ApplicationAvailability availability;
    private final ApplicationContext context;

    JobsAvailability(
            Millrace millrace, JobRunner jobs, ApplicationAvailability availability, ApplicationContext context) {
        this.millrace = millrace;
        this.jobs = jobs;
        this.availability = availability;
        this.context = context;
    }

    @Scheduled(fixedDelayString = "${shop.availability-interval:5s}")
    void look() {
        say(millrace.readiness().ready() ? ReadinessState.ACCEPTING_TRAFFIC : ReadinessState.REFUSING_TRAFFIC);
        say(jobs.isAlive() ? LivenessState.CORRECT : LivenessState.BROKEN);
    }

    private <S extends AvailabilityState> void say(S state) {
        if (!state.equals(availability.getState(state.getClass()))) {
            AvailabilityChangeEvent.publish(context, state);
        }
    }
}
