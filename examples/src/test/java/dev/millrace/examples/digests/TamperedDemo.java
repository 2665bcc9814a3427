package dev.millrace.examples.digests;

import org.jooq.DSLContext;

/** The demonstration, with one digest falsified and another one removed before they are compared. */
final class TamperedDemo {
    private TamperedDemo() {}

    public static void main(String[] args) throws Exception {
        System.exit(new DigestDemo(TamperedDemo::tamper).run(args));
    }

    private static void tamper(DSLContext dsl) {
        dsl.update(DigestTable.DIGESTS)
                .set(DigestTable.SHA256, "0".repeat(64))
                .where(DigestTable.PATH.endsWith("falsified"))
                .execute();
        dsl.deleteFrom(DigestTable.DIGESTS)
                .where(DigestTable.PATH.endsWith("removed"))
                .execute();
    }
}
