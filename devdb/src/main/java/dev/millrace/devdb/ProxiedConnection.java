package dev.millrace.devdb;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection through a {@link FaultyProxy}. One thread passes on requests, another one replies; the server
 * says after each request that it is ready, which is the end of its reply.
 */
final class ProxiedConnection {
    private static final Logger LOG = LoggerFactory.getLogger(ProxiedConnection.class);
    private static final int CONNECT_MILLIS = 10_000;

    private final FaultyProxy proxy;
    private final Socket client;
    private final Socket server = new Socket();
    private final InetSocketAddress address;
    private volatile boolean losesReply;
    private volatile boolean dead;
    private volatile @Nullable Thread requests;
    private boolean held; // guarded by this

    ProxiedConnection(FaultyProxy proxy, Socket client, InetSocketAddress address) {
        this.proxy = proxy;
        this.client = client;
        this.address = address;
    }

    void start() {
        requests = daemon("requests", this::passRequests);
    }

    static Thread daemon(String what, Runnable task) {
        Thread thread = new Thread(task, "millrace-devdb-proxy-" + what);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Breaks it for both sides. */
    void cut() {
        close(client);
        close(server);
        Thread stalled = requests;
        if (stalled != null) {
            stalled.interrupt();
        }
    }

    private void passRequests() {
        try {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(address, CONNECT_MILLIS);
            daemon("replies", this::passReplies);
            Requests incoming = new Requests(new DataInputStream(new BufferedInputStream(client.getInputStream())));
            OutputStream out = server.getOutputStream();
            for (Requests.Request request = incoming.next(); request != null; request = incoming.next()) {
                Fault fault = request.awaitsReply() ? proxy.strike(request.statements()) : null;
                if (fault == null || survives(fault)) {
                    request.bytes().writeTo(out);
                    awaitReplyIfHeld();
                }
                if (dead) {
                    client.getInputStream().transferTo(OutputStream.nullOutputStream());
                    close(client); // the server is not told
                    return;
                }
            }
            server.shutdownOutput(); // what is on its way is still done
        } catch (IOException e) {
            LOG.trace("A client's connection has ended", e);
            if (!dead) {
                cut();
            }
            settle();
        }
    }

    /** Whether the request goes on to the server. */
    private boolean survives(Fault fault) throws IOException {
        switch (fault.kind()) {
            case CUT_BEFORE_REQUEST -> {
                cut();
                throw new EOFException("cut before the request");
            }
            case CUT_BEFORE_REPLY -> losesReply = true;
            case HALF_OPEN -> dead = true;
            case STALL -> {
                hold();
                try {
                    TimeUnit.NANOSECONDS.sleep(fault.duration().toNanos());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new EOFException("cut while the request was held back");
                }
            }
        }
        return !dead;
    }

    private void passReplies() {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(server.getInputStream()))) {
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(client.getOutputStream()));
            while (true) {
                int type = in.readUnsignedByte();
                int length = in.readInt();
                byte[] body = new byte[length - 4];
                in.readFully(body);
                boolean ready = type == 'Z';
                if (ready && losesReply) {
                    return;
                }
                if (ready) {
                    settle(); // before its client knows and sends the next request, which may be the one to be held
                    // back
                }
                if (!losesReply && !dead) {
                    pass(out, type, length, body, in.available() == 0);
                }
            }
        } catch (IOException e) {
            LOG.trace("A server's connection has ended", e);
        } finally {
            if (!dead) {
                cut();
            }
            settle();
            proxy.ended(this);
        }
    }

    /** A client that has gone away keeps nothing from being done. */
    private static void pass(DataOutputStream out, int type, int length, byte[] body, boolean last) {
        try {
            out.writeByte(type);
            out.writeInt(length);
            out.write(body);
            if (last) {
                out.flush();
            }
        } catch (IOException e) {
            LOG.trace("Nobody takes a reply", e);
        }
    }

    private synchronized void hold() {
        held = true;
    }

    private synchronized void settle() {
        if (held) {
            held = false;
            proxy.heldRequestSettled();
            notifyAll();
        }
    }

    /**
     * A pooler breaks off the statement of a client that it takes for gone, and the server may then end it after this
     * connection: so what comes after a request that was held back, also the end of the connection, follows its reply.
     */
    private synchronized void awaitReplyIfHeld() throws EOFException {
        try {
            while (held) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EOFException("cut before the reply to a request that was held back");
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.trace("A socket could not be closed", e);
        }
    }
}
