"""The peers that are programs of this folder: they take the flags of sst_interop and print one line of JSON."""

import json
import pathlib
import subprocess
import sys

from children import Child
from peers.base import INTEROP, Peer, Seen


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return (done.stdout + done.stderr).strip()


class Program(Peer):
    program = ()

    def start(self, job):
        told = {**job.theirs, "port": str(job.port)} if job.role == "client" else job.theirs
        flags = [part for flag, value in told.items() for part in (f"--{flag}", value)]
        child = Child([*self.program, job.role, *flags], job.folder, "peer")
        if job.role == "server":
            job.port = child.port()
        return child

    def seen(self, job, child):
        lines = [line for line in child.text().splitlines() if line.startswith("{")]
        received = job.folder / "peer.received"
        seen = Seen(received=received.read_bytes() if received.exists() else b"")
        if not lines:
            seen.error = f"no result: {child.errors().strip()[-300:]}"
            return seen
        said = json.loads(lines[-1])
        seen.alert, seen.error, seen.closed = said["alert"], said["error"], said["closed"]
        seen.peer_certificate, seen.version = said.get("peer_certificate"), said.get("version")
        return seen


class Python(Program):
    name = "Python ssl"

    def prepare(self, folder):
        self.program = [sys.executable, INTEROP / "peers" / "peer.py"]
        tell = "import platform, ssl; print(platform.python_version(), 'with', *ssl.OPENSSL_VERSION.split()[:2])"
        return output(sys.executable, "-c", tell)


    def limited_requests(self, version):
        """ClientCertificateType (RFC 5246, 7.4.4): 1 rsa_sign, 64 ecdsa_sign, which EdDSA has too (RFC 8422, 5.5)."""
        if version != "1.2":
            return []
        return [(kind, [({"certificate-types": types}, fits == types) for types in ("1", "64")])
                for kind, fits in (("rsa2048", "1"), ("p256", "64"), ("ed25519", "64"))]


class Go(Program):
    name = "Go crypto/tls"
    commands = ("go",)
    install = "Go 1.21 or later"

    def prepare(self, folder):
        self.program = [pathlib.Path(folder) / "go-peer"]
        output("go", "build", "-o", str(self.program[0]), str(INTEROP / "peers" / "peer.go"))
        return output("go", "env", "GOVERSION").removeprefix("go")


class Node(Program):
    name = "Node tls"
    commands = ("node",)
    install = "nodejs (Debian: nodejs)"

    def prepare(self, folder):
        self.program = ["node", INTEROP / "peers" / "peer.mjs"]
        return output("node", "-p", "process.versions.node + ' with OpenSSL ' + process.versions.openssl")


class Jdk(Program):
    name = "JDK SSLSocket"
    commands = ("java",)
    install = "a JDK 17 or later (Debian: openjdk-17-jdk-headless)"

    def prepare(self, folder):
        classes = str(pathlib.Path(folder) / "classes")
        # As `java Peer.java` would at each start.
        compiler = "jdk.compiler/com.sun.tools.javac.Main"
        output("java", "-m", compiler, "-d", classes, str(INTEROP / "peers" / "Peer.java"))
        self.program = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, "Peer"]
        return output("java", "-version").splitlines()[1].split("(build ")[-1].rstrip(")")
