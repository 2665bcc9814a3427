package dev.millrace.backend;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The lines of a file that somebody else still writes to. */
final class OutputTail {
    /** How much is read at once. */
    private static final int CHUNK = 64 * 1024;

    /** What has no end of line by then is a line nevertheless: more would not fit into an entry of a log anyway. */
    private static final int LONGEST = 8 * 1024;

    private OutputTail() {}

    /**
     * @param start where it begins in the file
     * @param end where the next one begins
     */
    record Line(long start, long end, String text) {}

    /**
     * Lines from a place on, at most so many.
     *
     * @param complete whether nobody writes to it any more: then what is left without an end of line is the last one
     */
    static List<Line> read(Path file, long from, int most, boolean complete) throws IOException {
        if (most <= 0 || !Files.exists(file)) {
            return List.of();
        }
        byte[] bytes = bytes(file, from);
        List<Line> lines = new ArrayList<>();
        int begin = 0;
        for (int i = 0; i < bytes.length && lines.size() < most; i++) {
            boolean ends = bytes[i] == '\n';
            if (ends || i - begin + 1 >= LONGEST) {
                lines.add(line(bytes, begin, ends ? i : i + 1, i + 1, from));
                begin = i + 1;
            }
        }
        boolean all = bytes.length < CHUNK;
        if (complete && all && begin < bytes.length && lines.size() < most) {
            lines.add(line(bytes, begin, bytes.length, bytes.length, from));
        }
        return lines;
    }

    /** The last lines of a file that nobody writes to any more, of those that begin here or later. */
    static List<Line> last(Path file, long from, int most) throws IOException {
        if (!Files.exists(file)) {
            return List.of();
        }
        long start = Math.max(from, Files.size(file) - CHUNK + 1);
        List<Line> lines = read(file, start, Integer.MAX_VALUE, true);
        // The first one begins somewhere within a line, unless it begins where others ended.
        List<Line> whole = start == from || lines.isEmpty() ? lines : lines.subList(1, lines.size());
        return whole.subList(Math.max(0, whole.size() - most), whole.size());
    }

    private static byte[] bytes(Path file, long from) throws IOException {
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            long left = channel.size() - from;
            if (left <= 0) {
                return new byte[0];
            }
            ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(CHUNK, left));
            channel.position(from);
            while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
                // until it is full
            }
            byte[] read = new byte[buffer.position()];
            buffer.flip().get(read);
            return read;
        }
    }

    private static Line line(byte[] bytes, int begin, int end, int next, long from) {
        int last = end > begin && bytes[end - 1] == '\r' ? end - 1 : end;
        String text = new String(bytes, begin, last - begin, StandardCharsets.UTF_8);
        return new Line(from + begin, from + next, text);
    }
}
