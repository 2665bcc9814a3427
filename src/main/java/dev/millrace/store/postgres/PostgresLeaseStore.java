package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.LEASES;

import dev.millrace.job.Checks;
import dev.millrace.store.Lease;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.Record2;
import org.jooq.impl.DSL;

/**
 * Leases. Whether one has expired is decided, and its new end computed, once its row is locked: a value that was computed
 * before the lock was waited for may be over by then.
 */
final class PostgresLeaseStore implements LeaseStore {
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final int MAX_ROUNDS = 100;

    private final Database database;

    PostgresLeaseStore(Database database) {
        this.database = database;
    }

    @Override
    public Optional<Lease> acquire(String key, String owner, Duration duration) {
        Lease wanted = new Lease(key, owner, Instant.EPOCH);
        Duration length = Checks.duration("lease.duration", duration, SHORTEST);
        return database.run(Operation.ACQUIRE, key, dsl -> {
            Field<Instant> now = DbTime.CLOCK.as("now");
            for (int round = 0; round < MAX_ROUNDS; round++) {
                Record taken = dsl.insertInto(LEASES)
                        .set(LEASES.LEASE_KEY, key)
                        .set(LEASES.OWNER_ID, owner)
                        .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, length))
                        .onConflict(LEASES.LEASE_KEY)
                        .doUpdate()
                        .set(LEASES.OWNER_ID, owner)
                        .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, length))
                        .where(LEASES.EXPIRES_AT.le(DbTime.CLOCK))
                        .returningResult(LEASES.EXPIRES_AT, now)
                        .fetchOne();
                if (taken == null) {
                    return Optional.empty();
                }
                Instant end = taken.get(LEASES.EXPIRES_AT);
                if (isWhole(Duration.between(taken.get(now), end), length)) {
                    return Optional.of(new Lease(key, owner, end));
                }
                // A new row that had to wait for someone else's, which was rolled back: its end is as old as the wait.
                Optional<Lease> extended = renew(dsl, wanted, length);
                if (extended.isPresent()) {
                    return extended;
                }
            }
            throw new StoreException(
                    "Lease \"" + key + "\" was over " + MAX_ROUNDS
                            + " times before it could be granted; make it last longer than " + length + ".",
                    null);
        });
    }

    private static boolean isWhole(Duration left, Duration length) {
        return left.compareTo(length.minus(length.dividedBy(10))) >= 0;
    }

    @Override
    public Optional<Lease> renew(Lease lease, Duration duration) {
        Duration length = Checks.duration("lease.duration", duration, SHORTEST);
        return database.run(Operation.RENEW, lease.key(), dsl -> renew(dsl, lease, length));
    }

    private static Optional<Lease> renew(DSLContext dsl, Lease lease, Duration length) {
        CommonTableExpression<Record1<Instant>> row = locked(lease);
        CommonTableExpression<Record2<Instant, Instant>> locked = DSL.name("locked")
                .asMaterialized(DSL.select(row.field(LEASES.EXPIRES_AT), DbTime.CLOCK.as("now"))
                        .from(row));
        return dsl.with(row, locked)
                .update(LEASES)
                .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.LOCKED, length))
                .from(locked)
                .where(ownedBy(lease))
                .and(locked.field(LEASES.EXPIRES_AT).gt(DbTime.LOCKED))
                .returningResult(LEASES.EXPIRES_AT)
                .fetchOptional(renewed -> new Lease(lease.key(), lease.owner(), renewed.value1()));
    }

    @Override
    public boolean release(Lease lease) {
        return database.run(
                Operation.RELEASE_LEASE,
                lease.key(),
                dsl -> dsl.deleteFrom(LEASES).where(ownedBy(lease)).execute() == 1);
    }

    @Override
    public Optional<Lease> holder(String key) {
        Checks.id("lease.key", key);
        return database.run(
                Operation.LEASE_HOLDER,
                key,
                dsl -> dsl.select(LEASES.OWNER_ID, LEASES.EXPIRES_AT)
                        .from(LEASES)
                        .where(LEASES.LEASE_KEY.eq(key), LEASES.EXPIRES_AT.gt(DbTime.STATEMENT))
                        .fetchOptional(row -> new Lease(key, row.value1(), row.value2())));
    }

    /**
     * The end of this owner's lease, once its row is locked; no row if it is not this owner's. FOR NO KEY UPDATE rather
     * than FOR SHARE: those who share a lock overtake a renewal that waits for it, and could do so until the lease is over.
     */
    static CommonTableExpression<Record1<Instant>> locked(Lease lease) {
        return DSL.name("lease")
                .asMaterialized(DSL.select(LEASES.EXPIRES_AT)
                        .from(LEASES)
                        .where(ownedBy(lease))
                        .forNoKeyUpdate());
    }

    private static Condition ownedBy(Lease lease) {
        return LEASES.LEASE_KEY.eq(lease.key()).and(LEASES.OWNER_ID.eq(lease.owner()));
    }
}
