package dev.millrace.testkit;

import dev.millrace.Millrace;
import dev.millrace.MillraceTransaction;
import dev.millrace.SubmitOption;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.Connection;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Where the kit's statements go: each in a transaction of its own on the pool, or all in the test's transaction, which is
 * the test's to end. The latter goes through the library's own operations for a caller's transaction.
 */
final class Scope {
    private final Millrace millrace;
    private final PostgresStore store;
    private final DSLContext dsl;
    private final @Nullable MillraceTransaction transaction;

    private Scope(Millrace millrace, PostgresStore store, DSLContext dsl, @Nullable MillraceTransaction transaction) {
        this.millrace = millrace;
        this.store = store;
        this.dsl = dsl;
        this.transaction = transaction;
    }

    static Scope own(Millrace millrace) {
        DSLContext dsl = DSL.using(millrace.dataSource(), SQLDialect.POSTGRES, settings(millrace));
        return new Scope(millrace, store(millrace), dsl, null);
    }

    static Scope in(Millrace millrace, Configuration tx) {
        DSLContext dsl = DSL.using(tx.connectionProvider(), SQLDialect.POSTGRES, settings(millrace));
        return new Scope(millrace, store(millrace).in(tx), dsl, millrace.in(tx));
    }

    static Scope in(Millrace millrace, Connection tx) {
        DSLContext dsl = DSL.using(tx, SQLDialect.POSTGRES, settings(millrace));
        return new Scope(millrace, store(millrace).in(tx), dsl, millrace.in(tx));
    }

    static Scope in(Millrace millrace, DataSource tx) {
        DSLContext dsl = DSL.using(tx, SQLDialect.POSTGRES, settings(millrace));
        return new Scope(millrace, store(millrace).in(tx), dsl, millrace.in(tx));
    }

    private static PostgresStore store(Millrace millrace) {
        return PostgresStore.on(millrace.dataSource(), millrace.schema());
    }

    /** Only the connection is the test's: none of its settings changes what these statements mean. */
    private static Settings settings(Millrace millrace) {
        return new Settings()
                .withRenderCatalog(false)
                .withExecuteLogging(false)
                .withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema()
                                .withInput(Millrace.DEFAULT_SCHEMA)
                                .withOutput(millrace.schema())));
    }

    PostgresStore store() {
        return store;
    }

    /** For statements that only read. */
    DSLContext dsl() {
        return dsl;
    }

    boolean isCallers() {
        return transaction != null;
    }

    /** Runs statements that write: committed together, or with the test's transaction. */
    void change(Consumer<DSLContext> statements) {
        if (transaction == null) {
            dsl.transaction(tx -> statements.accept(tx.dsl()));
            return;
        }
        boolean autoCommit = dsl.connectionResult(Connection::getAutoCommit);
        if (autoCommit) {
            throw new IllegalStateException(
                    "The connection is in no transaction: it is in auto-commit mode, so what the"
                            + " test kit writes would be committed at once. Begin the transaction before the kit is used in it, or"
                            + " leave in(..) out.");
        }
        statements.accept(dsl);
    }

    <T> Job submit(JobType<T> type, T payload, SubmitOption... options) {
        return transaction == null
                ? millrace.submit(type, payload, options)
                : transaction.submit(type, payload, options);
    }
}
