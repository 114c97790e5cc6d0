"""The peers that are commands of others: openssl, gnutls-cli and gnutls-serv, curl."""

import re
import subprocess

from children import Child, free_port
from peers.base import Peer, Seen
from peers.programs import output


def number_in(pattern, text):
    found = list(re.finditer(pattern, text))
    return int(next(filter(None, found[-1].groups()))) if found else -1


def options(job, **names):
    """The flags of job as options of a command: names says which option stands for which flag."""
    found = []
    for flag, option in names.items():
        if value := job.theirs.get(flag.replace("_", "-")):
            found += [option, value]
    return found


class OpenSsl(Peer):
    name = "openssl s_server, s_client"
    commands = ("openssl",)
    install = "openssl (Debian: openssl)"
    style = {"server": "fed", "client": "fed"}

    def prepare(self, folder):
        return output("openssl", "version").split()[1]

    def start(self, job):
        common = ["-quiet", *options(job, cert="-cert", key="-key", ca="-CAfile", alpn="-alpn",
                                     client_sigalgs="-client_sigalgs")]
        if job.theirs.get("cert"):
            common += ["-cert_chain", job.pki.path("intermediate.pem")]
        if job.theirs.get("version"):
            common.append("-tls" + job.theirs["version"].replace(".", "_"))
        if job.role == "server":
            job.port = free_port()
            asks = {"require": ["-Verify", "3", "-verify_return_error"], "request": ["-verify", "3"]}
            command = ["openssl", "s_server", "-accept", f"127.0.0.1:{job.port}", "-naccept", "1", *common,
                       *asks.get(job.theirs.get("client-auth"), [])]
        else:
            name = job.theirs["name"]
            command = ["openssl", "s_client", "-connect", f"127.0.0.1:{job.port}", "-servername", name,
                       "-verify_hostname", name, "-verify_return_error", "-nocommands", *common]
        # At the end of its input it would stop, or say nothing: the pipe stays open.
        child = Child(command, job.folder, "peer", subprocess.PIPE)
        if job.their_data:
            wanted = len(job.our_data) if job.role == "server" else 0
            child.feed_when(lambda: child.out.stat().st_size >= wanted, job.their_data)
        return child

    def seen(self, job, child):
        said = child.errors()
        return Seen(received=child.out.read_bytes(), alert=number_in(r"SSL alert number (\d+)", said),
                    error=said[-300:], peer_certificate="depth=0" in said)


    def limited_requests(self, version):
        rsa, ecdsa = "rsa_pss_rsae_sha256", "ECDSA+SHA256"
        return [(kind, [({"client-sigalgs": schemes}, fits == schemes) for schemes in (rsa, ecdsa)])
                for kind, fits in (("rsa2048", rsa), ("p256", ecdsa))]


class GnuTls(Peer):
    name = "gnutls-serv, gnutls-cli"
    commands = ("gnutls-cli", "gnutls-serv")
    install = "gnutls-bin (Debian)"
    style = {"server": "echo", "client": "steps"}

    def prepare(self, folder):
        return output("gnutls-cli", "--version").splitlines()[0].split()[-1]

    def start(self, job):
        version = f":-VERS-ALL:+VERS-TLS{job.theirs['version']}" if job.theirs.get("version") else ""
        common = ["--priority", "NORMAL" + version,
                  *options(job, cert="--x509certfile", key="--x509keyfile", ca="--x509cafile", alpn="--alpn")]
        if job.role == "server":
            job.port = free_port()
            asks = {"require": ["--require-client-cert", "--verify-client-cert"], "request": ["--verify-client-cert"]}
            # Its own words do not say which alert came; the trace of records does.
            return Child(["gnutls-serv", "--debug", "5", "--echo", "--port", job.port, *common,
                          *asks.get(job.theirs.get("client-auth"), ["--disable-client-cert"]),
                          *(["--alpn-fatal"] if job.theirs.get("alpn") else [])], job.folder, "peer")
        name = job.theirs["name"]
        child = Child(["gnutls-cli", "--logfile", job.folder / "peer.log", "--port", job.port, "--sni-hostname", name,
                       "--verify-hostname", name, *common, "127.0.0.1"], job.folder, "peer", subprocess.PIPE)
        # It closes its side at the end of its input, and reads on.
        child.feed_when(lambda: True, job.their_data, then_close=bool(job.their_data))
        return child

    def seen(self, job, child):
        log = job.folder / "peer.log"
        said = child.errors() + (log.read_text(errors="replace") if log.exists() else child.text())
        # The server shows nothing of what it echoes: it came back, or not.
        received = child.out.read_bytes() if job.role == "client" else job.our_data
        alert = number_in(r"Received alert \[(\d+)\]|Alert\[2\|(\d+)\] .* was received", said)
        return Seen(received=received, alert=alert, error=said[-300:])


class Curl(Peer):
    name = "curl"
    roles = ("client",)
    commands = ("curl",)
    install = "curl (Debian)"
    style = {"client": "http"}

    def prepare(self, folder):
        return " with ".join(output("curl", "--version").split("\n")[0].split()[i] for i in (1, 4))

    def start(self, job):
        body = job.folder / "body"
        body.write_bytes(job.their_data)
        version, host = job.theirs["version"], f"{job.theirs['name']}:{job.port}"
        return Child(["curl", "-sS", "--http1.1", "--max-time", "30", f"--tlsv{version}", "--tls-max", version,
                      "--resolve", f"{host}:127.0.0.1", "-H", "Expect:", "-T", body, "-o", job.folder / "peer.received",
                      *options(job, cert="--cert", key="--key", ca="--cacert"), f"https://{host}/"], job.folder, "peer")

    def seen(self, job, child):
        received = job.folder / "peer.received"
        said = child.errors()
        # OpenSSL's reason codes of alerts that were received are 1000 and the alert's number.
        code = re.search(r"error:0A000([0-9A-F]{3}):", said)
        alert = int(code[1], 16) - 1000 if code and 1000 < int(code[1], 16) < 1256 else -1
        return Seen(received=received.read_bytes() if received.exists() else b"", alert=alert, error=said[-300:])
