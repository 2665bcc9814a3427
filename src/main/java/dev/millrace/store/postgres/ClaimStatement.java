package dev.millrace.store.postgres;

import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.Record;
import org.jooq.Result;
import org.jspecify.annotations.Nullable;

/**
 * Claims jobs by the statements that fit the request ({@link ClaimShape}). Each branch begins where the last claim found its
 * first job ({@link QueueHeads}), unless the request is thorough: then at the beginning.
 */
final class ClaimStatement {
    private final Database database;
    private final JobRows rows;
    private final QueueHeads heads = new QueueHeads();

    ClaimStatement(Database database, JobRows rows) {
        this.database = database;
        this.rows = rows;
    }

    List<Claim> claim(ClaimRequest request) {
        return database.run(Operation.CLAIM, dsl -> {
            int kinds = request.kinds().size();
            if (kinds == 1) {
                return kindByKind(dsl, request);
            }
            if (kinds == 0) {
                return together(dsl, request, ClaimShape.IN_ORDER);
            }
            List<Claim> claims = together(dsl, request, ClaimShape.IN_WINDOW);
            return claims.isEmpty() ? kindByKind(dsl, request) : claims;
        });
    }

    private List<Claim> together(DSLContext dsl, ClaimRequest request, ClaimShape shape) {
        return claim(dsl, request, shape, branches(request, List.of()), request.kinds());
    }

    /** Starts with another kind each time. */
    private List<Claim> kindByKind(DSLContext dsl, ClaimRequest request) {
        List<String> shuffled = new ArrayList<>(request.kinds());
        Collections.shuffle(shuffled);
        return claim(dsl, request, ClaimShape.KIND_BY_KIND, branches(request, shuffled), null);
    }

    /** Branches of all the kinds of a request together, or of each for itself. */
    private Branches branches(ClaimRequest request, List<String> eachForItself) {
        return new Branches(
                request.sources(),
                eachForItself,
                (source, priority, kind) -> request.thorough()
                        ? QueueHeads.START
                        : heads.of(
                                source.runtimeProfile(),
                                source.queue(),
                                priority.code(),
                                kind == null ? request.kinds() : List.of(kind)));
    }

    private List<Claim> claim(
            DSLContext dsl,
            ClaimRequest request,
            ClaimShape shape,
            Branches branches,
            @Nullable List<String> together) {
        Result<Record> claimed = shape.claim(dsl, request, branches);
        claimed.sort(Comparator.comparing(row -> row.get(ClaimShape.POSITION)));
        List<Claim> claims = Attempts.readable(dsl, rows, claimed);
        heads.claimed(claims, together);
        return claims;
    }
}
