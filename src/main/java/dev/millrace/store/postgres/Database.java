package dev.millrace.store.postgres;

import dev.millrace.store.SchemaNotReadyException;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Where statements are sent to, and the one place where they pass the gate, and where a failed one is repeated, as {@link
 * Repetition} decides, or gets its name. The schema's name is put in when a statement is rendered; of a caller's
 * configuration only the connection is used, so that none of its settings can change what our statements mean.
 */
final class Database {
    private final ConnectionProvider connections;
    private final @Nullable OwnConnections own;
    private final Rendering rendering;
    private final SchemaGate gate;
    private final Repetition.Policy policy;
    private final boolean signalling;

    /**
     * Each statement a transaction of ours, on a connection of the pool.
     *
     * @param gate what each statement has to pass
     * @param signalling whether statements that create jobs send signals
     */
    Database(OwnConnections pool, Rendering rendering, SchemaGate gate, Repetition.Policy policy, boolean signalling) {
        this(pool, pool, rendering, gate, policy, signalling);
    }

    /** In a caller's transaction, in which nothing is repeated. */
    Database(CallerConnection caller, Rendering rendering, SchemaGate gate, boolean signalling) {
        this(caller, null, rendering, gate, Repetition.Policy.CALLERS, signalling);
    }

    private Database(
            ConnectionProvider connections,
            @Nullable OwnConnections own,
            Rendering rendering,
            SchemaGate gate,
            Repetition.Policy policy,
            boolean signalling) {
        this.signalling = signalling;
        this.connections = connections;
        this.own = own;
        this.rendering = rendering;
        this.gate = gate;
        this.policy = policy;
    }

    /** Whether the transaction is a caller's. */
    boolean isCallers() {
        return own == null;
    }

    /** Where those listen who are to be told of jobs that come in; null if nobody is to be told. */
    @Nullable
    String channel() {
        return signalling ? PostgresJobSignals.channel(rendering.schema()) : null;
    }

    /** Runs the statements of an operation that has no subject. */
    <T extends @Nullable Object> T run(Operation operation, Function<DSLContext, T> statements) {
        return run(operation, null, statements);
    }

    /**
     * Runs the statements of an operation.
     *
     * @param subject what they are about, such as a job's id, for the message of a failure
     */
    <T extends @Nullable Object> T run(
            Operation operation, @Nullable String subject, Function<DSLContext, T> statements) {
        return confirm(operation, subject, (dsl, repetition) -> statements.apply(dsl));
    }

    /**
     * Runs the statements of an operation whose repetition has to recognise what an earlier try has done: they are given
     * what is known of that.
     *
     * @param subject what they are about, such as a job's id, for the message of a failure
     */
    <T extends @Nullable Object> T confirm(
            Operation operation, @Nullable String subject, BiFunction<DSLContext, Repetition, T> statements) {
        String what = operation.describe(subject);
        Repetition repetition = new Repetition(operation.failureClass(), policy);
        ConnectionProvider used =
                connections instanceof CallerConnection theirs ? theirs.forOneOperation() : connections;
        while (true) {
            Session session = null;
            Failure failure;
            try {
                session = open(used);
                DSLContext dsl = DSL.using(rendering.configuration().derive(session));
                pass(what, dsl, repetition);
                session.passedGate();
                T result = statements.apply(dsl, repetition);
                if (used instanceof CallerConnection caller) {
                    caller.check();
                }
                return result;
            } catch (DataAccessException e) {
                failure = new Failure(e);
                repetition.failed(session != null && session.inDoubt(failure));
                learn(failure, session);
            } finally {
                if (session != null) {
                    session.close();
                }
            }
            if (!repetition.goesOnAfter(failure)) {
                throw failure.told(what, rendering.schema(), own != null, repetition);
            }
        }
    }

    /** Who is not let in may have been so at an earlier try. */
    private void pass(String what, DSLContext dsl, Repetition repetition) {
        try {
            gate.pass(what, dsl);
        } catch (SchemaNotReadyException e) {
            if (!repetition.mayHaveHappened()) {
                throw e;
            }
            String message = e.getMessage() + " But the answer to an earlier try was lost, which may have written it.";
            throw new SchemaNotReadyException(e.schema(), e.reason(), message, e, true);
        }
    }

    private Session open(ConnectionProvider used) {
        return own == null ? Session.callers(used) : Session.own(own);
    }

    private void learn(Failure failure, @Nullable Session session) {
        if (failure.kind() == Failure.Kind.NOT_READY) {
            gate.close();
        }
        if (failure.kind() == Failure.Kind.UNAVAILABLE && session != null) {
            session.discard();
        }
    }
}
