/** An application that is a module. Automatic modules can't require others, so it has to, also where only they use them. */
module shop {
    requires dev.millrace;
    requires dev.millrace.db;
    requires dev.millrace.devdb;
    requires dev.millrace.jooq;
    requires dev.millrace.testkit;
    requires com.fasterxml.jackson.databind;
    requires java.sql;
    requires org.jooq;
    requires org.slf4j;

    // Jackson makes payloads.
    opens shop to com.fasterxml.jackson.databind;
}
