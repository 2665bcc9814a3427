package dev.millrace.worker;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** Names for workers that were given none: the host, the process id and a random number. */
final class WorkerName {
    private WorkerName() {}

    static String random() {
        return host() + ":" + ProcessHandle.current().pid() + ":"
                + String.format(Locale.ROOT, "%06x", ThreadLocalRandom.current().nextInt(1 << 24));
    }

    // The environment first: looking up one's own name may take seconds where name resolution is out of order.
    private static String host() {
        return Stream.of("HOSTNAME", "COMPUTERNAME")
                .map(System::getenv)
                .filter(name -> name != null && !name.isBlank())
                .findFirst()
                .orElseGet(WorkerName::lookedUp);
    }

    @SuppressWarnings("UnusedException") // a host without a name is nothing to report
    private static String lookedUp() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
