// The JDK's SSLSocket as a peer: the flags and the steps of sst_interop, one line of JSON as result
// (tests/interop/README.md).
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

public class Peer {
  // RFC 8446, 6, and RFC 5246, 7.2.
  private static final Map<String, Integer> ALERTS = Map.ofEntries(
      Map.entry("unexpected_message", 10), Map.entry("bad_record_mac", 20), Map.entry("record_overflow", 22),
      Map.entry("handshake_failure", 40), Map.entry("bad_certificate", 42), Map.entry("unsupported_certificate", 43),
      Map.entry("certificate_revoked", 44), Map.entry("certificate_expired", 45), Map.entry("certificate_unknown", 46),
      Map.entry("illegal_parameter", 47), Map.entry("unknown_ca", 48), Map.entry("access_denied", 49),
      Map.entry("decode_error", 50), Map.entry("decrypt_error", 51), Map.entry("protocol_version", 70),
      Map.entry("insufficient_security", 71), Map.entry("internal_error", 80), Map.entry("user_canceled", 90),
      Map.entry("missing_extension", 109), Map.entry("unsupported_extension", 110),
      Map.entry("unrecognized_name", 112), Map.entry("certificate_required", 116),
      Map.entry("no_application_protocol", 120));

  private static final Map<String, String> options = new HashMap<>();
  private static boolean open, closed, peerCertificate;
  private static String version = "", alpn = "", error = "";
  private static long sent, received;
  private static int alert = -1;

  private static Certificate[] certificates(String path) throws Exception {
    try (InputStream in = Files.newInputStream(Path.of(path))) {
      return CertificateFactory.getInstance("X.509").generateCertificates(in).toArray(new Certificate[0]);
    }
  }

  private static PrivateKey key(String path, Certificate leaf) throws Exception {
    String base64 = Files.readString(Path.of(path)).replaceAll("-----[^-]+-----", "").replaceAll("\\s", "");
    return KeyFactory.getInstance(leaf.getPublicKey().getAlgorithm())
        .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
  }

  private static SSLContext context() throws Exception {
    KeyManagerFactory keys = null;
    if (options.containsKey("cert")) {
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, null);
      Certificate[] chain = certificates(options.get("cert"));
      own.setKeyEntry("own", key(options.get("key"), chain[0]), new char[0], chain);
      keys = KeyManagerFactory.getInstance("PKIX");
      keys.init(own, new char[0]);
    }
    TrustManagerFactory trust = null;
    if (options.containsKey("ca")) {
      KeyStore anchors = KeyStore.getInstance("PKCS12");
      anchors.load(null, null);
      anchors.setCertificateEntry("ca", certificates(options.get("ca"))[0]);
      trust = TrustManagerFactory.getInstance("PKIX");
      trust.init(anchors);
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys == null ? null : keys.getKeyManagers(), trust == null ? null : trust.getTrustManagers(), null);
    return context;
  }

  private static SSLSocket wrap(boolean server, SSLContext context, Socket plain) throws Exception {
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(plain, options.getOrDefault("name", "peer"), 0, true);
    socket.setUseClientMode(!server);
    SSLParameters parameters = socket.getSSLParameters();
    if (options.containsKey("version")) parameters.setProtocols(new String[] {"TLSv" + options.get("version")});
    if (options.containsKey("alpn")) parameters.setApplicationProtocols(new String[] {options.get("alpn")});
    if (!server) {
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      parameters.setServerNames(List.of(new SNIHostName(options.get("name"))));
    }
    if ("request".equals(options.get("client-auth"))) parameters.setWantClientAuth(true);
    if ("require".equals(options.get("client-auth"))) parameters.setNeedClientAuth(true);
    socket.setSSLParameters(parameters);
    return socket;
  }

  private static Socket connect(boolean server) throws Exception {
    InetAddress here = InetAddress.getByName("127.0.0.1");
    if (!server) return new Socket(here, Integer.parseInt(options.get("port")));
    try (ServerSocket listener = new ServerSocket()) {
      listener.bind(new InetSocketAddress(here, 0));
      System.out.println("port=" + listener.getLocalPort());
      return listener.accept();
    }
  }

  private static void take(SSLSocket socket, OutputStream target, long limit) throws Exception {
    byte[] buffer = new byte[65536];
    InputStream in = socket.getInputStream();
    for (long got = 0; got < limit;) {
      int n = in.read(buffer, 0, (int) Math.min(buffer.length, limit - got));
      if (n < 0) {
        closed = true;
        return;
      }
      target.write(buffer, 0, n);
      got += n;
      received += n;
    }
  }

  private static void run(SSLSocket socket, OutputStream target) throws Exception {
    socket.startHandshake();
    open = true;
    version = socket.getSession().getProtocol();
    alpn = socket.getApplicationProtocol();
    try {
      peerCertificate = socket.getSession().getPeerCertificates().length > 0;
    } catch (SSLPeerUnverifiedException none) {
      peerCertificate = false;
    }
    for (String step : options.getOrDefault("steps", "send,close,drain").split(",")) {
      if (step.equals("send")) {
        byte[] data = Files.readAllBytes(Path.of(options.get("send")));
        socket.getOutputStream().write(data);
        sent += data.length;
      } else if (step.equals("close")) {
        socket.shutdownOutput();
      } else {
        take(socket, target, step.equals("take") ? Long.parseLong(options.get("expect")) : Long.MAX_VALUE);
      }
    }
  }

  private static String quoted(String text) {
    return '"' + (text == null ? "" : text.replaceAll("[\"\\\\\\p{Cntrl}]", " ")) + '"';
  }

  public static void main(String[] arguments) throws Exception {
    boolean server = arguments[0].equals("server");
    for (int i = 1; i < arguments.length; i += 2) options.put(arguments[i].substring(2), arguments[i + 1]);
    SSLContext context = context();
    try (Socket plain = connect(server); OutputStream target = Files.newOutputStream(Path.of(options.get("receive")))) {
      plain.setSoTimeout(30000);
      SSLSocket socket = wrap(server, context, plain);
      try {
        run(socket, target);
      } catch (IOException failure) {
        error = failure.toString();
        Matcher name = Pattern.compile("Received fatal alert: (\\w+)").matcher(error);
        if (name.find()) alert = ALERTS.getOrDefault(name.group(1), -1);
      }
      socket.close();
    }
    System.out.println("{\"open\":" + open + ",\"closed\":" + closed + ",\"alert\":" + alert + ",\"error\":"
        + quoted(error) + ",\"version\":" + quoted(version) + ",\"alpn\":" + quoted(alpn) + ",\"peer_certificate\":"
        + peerCertificate + ",\"sent\":" + sent + ",\"received\":" + received + "}");
  }
}
