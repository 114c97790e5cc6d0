import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.X509CertSelector;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/** The JDK's SSLEngine behind the line protocol of bench/ (README.md): java Peer DATA [TICKETS]. */
final class Peer {
    /** 2026-01-01T00:00:00Z, the clock of tests/data. */
    private static final Date CLOCK = new Date(1767225600L * 1000);
    private static final int RECORD = 16384;
    private static final char[] NO_PASSWORD = new char[0];
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** n ops. */
    interface Job {
        void pass(int n) throws IOException;
    }

    /** A client and a server, and the room between them. */
    private static final class Pair {
        final SSLEngine client;
        final SSLEngine server;
        ByteBuffer toServer = ByteBuffer.allocate(65536);
        ByteBuffer toClient = ByteBuffer.allocate(65536);
        /** Bytes in the handshake. */
        int fromServer;
        private final ByteBuffer none = ByteBuffer.allocate(0);
        private final ByteBuffer nothing = ByteBuffer.allocate(RECORD + 512);

        Pair(SSLContext clients, SSLContext servers) {
            client = engine(clients, true);
            server = engine(servers, false);
        }

        private static SSLEngine engine(SSLContext context, boolean isClient) {
            SSLEngine engine = context.createSSLEngine("server.test", 443);
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setProtocols(new String[] {"TLSv1.3"});
            parameters.setCipherSuites(new String[] {"TLS_AES_128_GCM_SHA256"});
            if (isClient) {
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
            }
            engine.setSSLParameters(parameters);
            engine.setUseClientMode(isClient);
            return engine;
        }

        /** Whether anything moved. */
        private boolean step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws IOException {
            HandshakeStatus status = engine.getHandshakeStatus();
            switch (status) {
                case NEED_TASK -> {
                    for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
                        task.run();
                    }
                    return true;
                }
                case NEED_WRAP -> {
                    SSLEngineResult result = engine.wrap(none, out);
                    fromServer += engine == server ? result.bytesProduced() : 0;
                    return true;
                }
                default -> {
                    in.flip();
                    boolean any = in.hasRemaining();
                    if (any) {
                        nothing.clear();
                        SSLEngineResult result = engine.unwrap(in, nothing);
                        any = result.bytesConsumed() > 0 || engine.getHandshakeStatus() != status;
                    }
                    in.compact();
                    return any;
                }
            }
        }

        Pair shake() throws IOException {
            client.beginHandshake();
            server.beginHandshake();
            boolean moved = true;
            while (moved) {
                moved = step(client, toClient, toServer);
                moved |= step(server, toServer, toClient);
            }
            require(client.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING, "the client's handshake");
            require(server.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING, "the server's handshake");
            require(client.getSession().getProtocol().equals("TLSv1.3"), "the version");
            return this;
        }
    }

    private static void require(boolean good, String what) {
        if (!good) {
            throw new IllegalStateException(what);
        }
    }

    private static SSLContext servers(Path data, String leaf) throws IOException, GeneralSecurityException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        byte[] pem = Files.readAllBytes(data.resolve(leaf + ".pem"));
        Certificate[] chain = factory.generateCertificates(new ByteArrayInputStream(pem)).toArray(new Certificate[0]);
        String text = Files.readString(data.resolve(leaf + ".key")).replaceAll("-----[^-]*-----|\\s", "");
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text));
        PrivateKey key = KeyFactory.getInstance(chain[0].getPublicKey().getAlgorithm()).generatePrivate(spec);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("leaf", key, NO_PASSWORD, chain);
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, NO_PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    private static SSLContext clients(Path data) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        byte[] root = Files.readAllBytes(data.resolve("root.pem"));
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        store.setCertificateEntry("root", factory.generateCertificate(new ByteArrayInputStream(root)));
        PKIXBuilderParameters parameters = new PKIXBuilderParameters(store, new X509CertSelector());
        parameters.setRevocationEnabled(false);
        parameters.setDate(CLOCK);
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(new CertPathTrustManagerParameters(parameters));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    private static Job handshakes(Path data, String leaf) throws IOException, GeneralSecurityException {
        SSLContext server = servers(data, leaf);
        SSLContext client = clients(data);
        client.getClientSessionContext().setSessionCacheSize(1);
        return n -> {
            for (int i = 0; i < n; i++) {
                Pair pair = new Pair(client, server).shake();
                pair.client.getSession().invalidate();
                pair.server.getSession().invalidate();
            }
        };
    }

    /** The JDK keeps the newest session by host and port, and offers it. */
    private static Job resumptions(Path data, String leaf) throws IOException, GeneralSecurityException {
        SSLContext server = servers(data, leaf);
        SSLContext client = clients(data);
        int full = new Pair(client, server).shake().fromServer;
        return n -> {
            for (int i = 0; i < n; i++) {
                require(new Pair(client, server).shake().fromServer < full - 500, "the server sends its chain again");
            }
        };
    }

    private static Job moves(Path data, int size) throws IOException, GeneralSecurityException {
        Pair pair = new Pair(clients(data), servers(data, "server-p256")).shake();
        ByteBuffer plain = ByteBuffer.allocate(size);
        for (int i = 0; i < size; i++) {
            plain.put(i, (byte) (i * 31 + i / 251));
        }
        ByteBuffer wire = ByteBuffer.allocate((size / RECORD + 1) * (RECORD + 512));
        ByteBuffer read = ByteBuffer.allocate(size + RECORD + 512);
        return n -> {
            for (int i = 0; i < n; i++) {
                plain.clear();
                wire.clear();
                read.clear();
                while (plain.hasRemaining()) {
                    pair.client.wrap(plain, wire);
                }
                wire.flip();
                while (wire.hasRemaining()) {
                    pair.server.unwrap(wire, read);
                }
                require(read.position() == size, "the length");
            }
            require(read.flip().equals(plain.clear()), "other bytes came than were sent");
        };
    }

    private static Job job(Path data, String kind, String argument) throws IOException, GeneralSecurityException {
        return switch (kind) {
            case "move" -> moves(data, Integer.parseInt(argument));
            case "handshake" -> handshakes(data, argument);
            case "resumed" -> resumptions(data, argument);
            default -> throw new IllegalArgumentException(kind);
        };
    }

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        System.setProperty("jdk.tls.namedGroups", "x25519");
        // One for the whole process: programs.py starts another one for what resumes.
        System.setProperty("jdk.tls.server.newSessionTicketCount", arguments.length > 1 ? arguments[1] : "0");
        Path data = Path.of(arguments[0]);
        Map<String, Job> jobs = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] words = line.split(" ");
            require(words.length == 5 && words[0].equals("pass") && words[1].equals("java"), line);
            String name = words[2] + " " + words[3];
            if (!jobs.containsKey(name)) {
                jobs.put(name, job(data, words[2], words[3]));
            }
            long began = THREADS.getCurrentThreadCpuTime();
            jobs.get(name).pass(Integer.parseInt(words[4]));
            System.out.println(THREADS.getCurrentThreadCpuTime() - began);
        }
    }
}
