package dev.millrace.examples.guide;

import dev.millrace.examples.guide.Kinds.Mail;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Sends mails, as far as these examples are concerned. */
final class Mailer {
    private final List<Mail> sent = new CopyOnWriteArrayList<>();
    private volatile boolean broken;
    private volatile boolean busy;
    private volatile boolean inMaintenance;

    void send(Mail mail) {
        if (broken) {
            throw new IllegalStateException("The mail server is down");
        }
        sent.add(mail);
    }

    boolean hasUnsubscribed(String address) {
        return address.startsWith("former");
    }

    boolean isBusy() {
        return busy;
    }

    boolean isInMaintenance() {
        return inMaintenance;
    }

    Mailer broken(boolean value) {
        broken = value;
        return this;
    }

    Mailer busy(boolean value) {
        busy = value;
        return this;
    }

    Mailer inMaintenance(boolean value) {
        inMaintenance = value;
        return this;
    }

    List<Mail> sent() {
        return sent;
    }
}
