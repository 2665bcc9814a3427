package dev.millrace.internal;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** Names for what operators see of a process, such as a worker that was given none: the host, the process id and a random number. */
public final class ProcessName {
    private ProcessName() {}

    /** {@return a new name} */
    public static String random() {
        return host() + ":" + ProcessHandle.current().pid() + ":"
                + String.format(Locale.ROOT, "%06x", ThreadLocalRandom.current().nextInt(1 << 24));
    }

    // The environment first: looking up one's own name may take seconds where name resolution is out of order.
    private static String host() {
        return Stream.of("HOSTNAME", "COMPUTERNAME")
                .map(System::getenv)
                .filter(name -> name != null && !name.isBlank())
                .findFirst()
                .orElseGet(ProcessName::lookedUp);
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
