package dev.millrace.devdb;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what a client sends into requests, by as much of PostgreSQL's protocol (version 3) as that takes: each message has
 * a type of one byte and a length, but for the first, which has no type; Query and Sync end a request. Keeps the texts of
 * prepared statements, which are sent once and later meant by their names. For one connection and thread.
 */
final class Requests {
    private static final int LONGEST_MESSAGE = 1 << 30;

    /**
     * What a client sent at once.
     *
     * @param bytes as it was sent
     * @param statements the texts of the statements in it
     * @param awaitsReply whether the server answers it as a whole, so that it begins an exchange
     */
    record Request(ByteArrayOutputStream bytes, String statements, boolean awaitsReply) {}

    private final DataInputStream in;
    private final Map<String, String> prepared = new HashMap<>();
    private boolean started;

    Requests(DataInputStream in) {
        this.in = in;
    }

    /** The next request; null at the end of the connection. */
    @Nullable
    Request next() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        StringBuilder statements = new StringBuilder();
        try {
            if (!started) {
                started = true;
                copy(bytes);
                return new Request(bytes, "", false);
            }
            while (true) {
                int type = in.readUnsignedByte();
                bytes.write(type);
                byte[] body = copy(bytes);
                statements.append(statement(type, body));
                switch (type) {
                    case 'Q', 'S' -> {
                        return new Request(bytes, statements.toString(), true);
                    }
                    case 'P', 'B', 'D', 'E', 'C' -> {
                        // more belongs to it
                    }
                    default -> { // passwords, copied data, farewells, Flush
                        return new Request(bytes, statements.toString(), false);
                    }
                }
            }
        } catch (EOFException e) {
            return null;
        }
    }

    /** Reads a message from its length on, and copies it. */
    private byte[] copy(ByteArrayOutputStream copy) throws IOException {
        int length = in.readInt();
        if (length < 4 || length > LONGEST_MESSAGE) {
            throw new IOException("This is not PostgreSQL's protocol, or it is encrypted: a message of " + length
                    + " bytes. Connect with sslmode=disable and gssEncMode=disable.");
        }
        byte[] body = new byte[length - 4];
        in.readFully(body);
        copy.writeBytes(ByteBuffer.allocate(4).putInt(length).array());
        copy.writeBytes(body);
        return body;
    }

    private String statement(int type, byte[] body) {
        return switch (type) {
            case 'Q' -> text(body, 0) + "\n";
            case 'P' -> {
                String name = text(body, 0);
                String statement = text(body, end(body, 0) + 1);
                prepared.put(name, statement);
                yield statement + "\n";
            }
            case 'B' -> prepared.getOrDefault(text(body, end(body, 0) + 1), "") + "\n";
            default -> "";
        };
    }

    private static String text(byte[] body, int from) {
        return new String(body, from, end(body, from) - from, StandardCharsets.UTF_8);
    }

    private static int end(byte[] body, int from) {
        int end = from;
        while (end < body.length && body[end] != 0) {
            end++;
        }
        return end;
    }
}
