package dev.millrace.backend;

import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEventLimitException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process prints, in the log of its job. How far it has come is kept with the attempt; what a JVM that died had
 * sent and not noted is sent again, and the log, which knows each line as an event by where it begins, takes it once.
 * Each stream in its own order.
 */
final class OutputLog {
    private static final List<String> STREAMS = List.of("stdout", "stderr");
    private static final String LINES = "lines";
    private static final String DONE = "done";
    private static final int BATCH = 500;
    private static final int LAST_LINES = 50;
    private static final Logger LOG = LoggerFactory.getLogger(OutputLog.class);

    private final JobLogStore logs;
    private final int maxLines;

    OutputLog(JobLogStore logs, int maxLines) {
        this.logs = logs;
        this.maxLines = maxLines;
    }

    /**
     * Sends what is new.
     *
     * @param ended whether the process prints no more
     * @return whether all is sent that ever will be
     */
    boolean stream(OperationFolder folder, boolean ended) throws IOException {
        Properties streamed = folder.streamed();
        if (streamed.containsKey(DONE)) {
            return true;
        }
        boolean more;
        do {
            more = false;
            for (String stream : STREAMS) {
                more |= streamSome(folder, stream, streamed, ended);
            }
        } while (more && ended);
        if (ended && !streamed.containsKey(DONE)) {
            for (String stream : STREAMS) {
                sendLast(folder, stream, streamed);
            }
            streamed.setProperty(DONE, "true");
            folder.writeStreamed(streamed);
        }
        return streamed.containsKey(DONE);
    }

    /** Some lines of one stream; whether there may be more. */
    private boolean streamSome(OperationFolder folder, String stream, Properties streamed, boolean ended)
            throws IOException {
        int lines = (int) number(streamed, LINES);
        int room = Math.min(BATCH, maxLines - lines);
        long from = number(streamed, stream);
        List<OutputTail.Line> read = OutputTail.read(folder.file(stream), from, room, ended);
        if (read.isEmpty() || streamed.containsKey(DONE)) {
            return false;
        }
        send(folder, stream, read, streamed);
        streamed.setProperty(LINES, String.valueOf(lines + read.size()));
        streamed.setProperty(stream, String.valueOf(read.get(read.size() - 1).end()));
        folder.writeStreamed(streamed);
        return true;
    }

    /** The end of what was too much to be streamed: it often says why a process failed. */
    private void sendLast(OperationFolder folder, String stream, Properties streamed) throws IOException {
        long from = number(streamed, stream);
        List<OutputTail.Line> last = OutputTail.last(folder.file(stream), from, LAST_LINES);
        if (last.isEmpty()) {
            return;
        }
        List<OutputTail.Line> with = new ArrayList<>();
        if (last.get(0).start() > from) {
            long left = last.get(0).start() - from;
            with.add(new OutputTail.Line(
                    from,
                    from,
                    "(" + left + " bytes of " + stream + " are left out here; see " + folder.file(stream) + ")"));
        }
        with.addAll(last);
        send(folder, stream, with, streamed);
    }

    private void send(OperationFolder folder, String stream, List<OutputTail.Line> lines, Properties streamed) {
        RemoteOperation operation = folder.operation();
        List<LogEntry> entries = lines.stream()
                .map(line -> LogEntry.of(operation.attempt(), LogEntry.Level.INFO, line.text())
                        .withFields(Map.of("stream", stream))
                        .withEventId(operation.token() + ":" + stream + ":" + line.start()))
                .toList();
        try {
            logs.append(operation.jobId(), entries);
        } catch (LogEventLimitException e) {
            LOG.info(
                    "The log of job \"{}\" takes no more lines; what its process prints is in {} only.",
                    operation.jobId(),
                    folder.path());
            streamed.setProperty(DONE, "true");
        }
    }

    /** What can't be read is zero: so much is sent again, and the log takes it once. */
    @SuppressWarnings("UnusedException") // that it is no number is all that there is to say
    private static long number(Properties properties, String name) {
        try {
            return Long.parseLong(properties.getProperty(name, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
