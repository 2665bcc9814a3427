package dev.millrace.examples.guide;

import dev.millrace.job.JobType;

/** The kinds of jobs that the guide is about: a shop sends mails, and prints invoices for its orders. */
final class Kinds {
    // tag::kinds[]
    record Mail(String to, String subject) {}

    record Invoice(long order) {}

    static final JobType<Mail> MAIL = JobType.of("mail", Mail.class);
    static final JobType<Invoice> INVOICE = JobType.of("invoice", Invoice.class);
    // end::kinds[]

    private Kinds() {}
}
