"""0-RTT: two connections, the second with the session of the first, and early data that the server takes or refuses."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import time

import exceptions
from cases import GROUPS, NAME, certificate
from children import Child, free_port
from peers.base import Peer
from peers.commands import GnuTls, OpenSsl

TAKEN, REFUSED, RETRY = TESTS = ("0-RTT, taken", "0-RTT, refused", "0-RTT, HelloRetryRequest")
LIMIT_S = 25


@dataclasses.dataclass
class EarlyCase:
    """As cases.Case: role is the peer's."""

    peer: Peer
    role: str
    test: str
    version: str = "1.3"
    kind: str = "p256"

    def name(self):
        return f"{self.peer.name}, {self.role}, TLS {self.version}, {self.test}, {self.kind}"

    def play(self, bench, folder):
        """The faults, as texts, and what was told."""
        return Play(self, bench, folder).run()


class Play:
    def __init__(self, case, bench, folder):
        self.case, self.pki, self.folder = case, bench.pki, folder
        self.program = pathlib.Path(bench.program).with_name("sst_interop_early")
        ours, theirs = bench.data
        self.early, self.late, self.answer = ours[:6400], ours[6400:32000], theirs[:32000]
        for name in ("early", "late", "answer"):
            (folder / name).write_bytes(getattr(self, name))
        self.taken = case.test == TAKEN

    def run(self):
        received = self._to_servers() if self.case.role == "server" else self._to_client()
        lines = [json.loads(line) for line in (self.folder / "ours.out").read_text().splitlines() if line[0] == "{"]
        told = f"ours: {lines}; peer: {self._said()}"
        if len(lines) != 2:
            return [f"{len(lines)} of two connections ended"], told
        return self._faults(*lines, received), told

    def _said(self):
        return [path.read_text(errors="replace")[-200:] for path in sorted(self.folder.glob("*.err"))]

    def _got(self, name):
        path = self.folder / name
        return path.read_bytes() if path.exists() else b""

    def _ours(self, role, **flags):
        flags = {"early": "early", "receive": "our.received", "groups": GROUPS, "limit": str(LIMIT_S - 2), **flags}
        parts = [part for flag, value in flags.items() for part in (f"--{flag}", value)]
        return Child([self.program, role, *parts], self.folder, "ours")

    # ---- foreign servers: one that takes early data, and, to refuse it, another with other ticket keys

    def _server(self, name, second):
        port = free_port()
        files = certificate(self.pki, "server-p256")
        only = second and self.case.test == RETRY
        if isinstance(self.case.peer, OpenSsl):
            command = ["openssl", "s_server", "-quiet", "-tls1_3", "-early_data", "-accept", f"127.0.0.1:{port}",
                       "-cert", files["cert"], "-key", files["key"], "-cert_chain", self.pki.path("intermediate.pem"),
                       *(["-groups", "P-384"] if only else [])]
        else:
            groups = ":-GROUP-ALL:+GROUP-SECP384R1" if only else ""
            command = ["gnutls-serv", "--echo", "--earlydata", "--disable-client-cert", "--port", port,
                       "--x509certfile", files["cert"], "--x509keyfile", files["key"],
                       "--priority", f"NORMAL:-VERS-ALL:+VERS-TLS1.3{groups}"]
        return port, Child(command, self.folder, name, subprocess.PIPE)

    def _to_servers(self):
        first_port, first = self._server("peer-1", False)
        port, second = (first_port, first) if self.taken else self._server("peer-2", True)
        with first, second:
            fed = isinstance(self.case.peer, OpenSsl)
            sent = len(self.early) + len(self.late)
            if fed:
                second.feed_when(lambda: second.out.stat().st_size >= sent, self.answer)
            # gnutls-serv sends back what came behind the handshake.
            expect = len(self.answer) if fed else len(self.late) if self.taken else sent
            client = self._ours("client", port=first_port, port2=port, name=NAME, ca=self.pki.path("root.pem"),
                                send="late", expect=expect)
            with client:
                client.wait(LIMIT_S)
            return second.out.read_bytes() if fed else None

    # ---- foreign clients

    def _client(self, port, name, more):
        root = self.pki.path("root.pem")
        if isinstance(self.case.peer, OpenSsl):
            command = ["openssl", "s_client", "-quiet", "-nocommands", "-tls1_3", "-connect", f"127.0.0.1:{port}",
                       "-servername", NAME, "-CAfile", root, "-verify_return_error", *more]
        else:
            command = ["gnutls-cli", "--logfile", "peer.log", "--port", port, "--sni-hostname", NAME,
                       "--verify-hostname", NAME, "--x509cafile", root, *more, "127.0.0.1"]
        return Child(command, self.folder, name, subprocess.PIPE)

    def _to_client(self):
        mode = {TAKEN: "taken", REFUSED: "refused", RETRY: "retry"}[self.case.test]
        expect = len(self.late) + (len(self.early) if self.taken else 0)
        with self._ours("server", send="answer", expect=expect, **certificate(self.pki, "server-p256"),
                        **{"early-mode": mode}) as server:
            port = server.port()
            if isinstance(self.case.peer, OpenSsl):
                with self._client(port, "peer-1", ["-sess_out", "session"]) as first:
                    first.wait(LIMIT_S)
                more = ["-sess_in", "session", "-early_data", "early"]
            else:
                more = ["--resume", "--waitresumption", "--earlydata", "early"]
            with self._client(port, "peer-2", more) as second:
                second.feed_when(lambda: True, self.late)
                if exceptions.cannot(self.case):
                    time.sleep(2)  # it hangs
                else:
                    server.wait(LIMIT_S)
                    second.wait(3)
            server.wait(5)
            return second.out.read_bytes()

    # ---- what must have come of it

    def _faults(self, first, second, received):
        ours = self.case.role == "server"  # our client
        checks = {
            f"the first connection: {first['name']}": first["name"] == "OK" and not first["resumed"],
            f"the second connection: {second['name']}": second["name"] == "OK",
            "it was resumed, or was not": second["resumed"] == (self.taken or not ours),
            "early data was accepted, or was not": second["accepted"] == self.taken,
            "there was a HelloRetryRequest, or was none": second["retry"] == (self.case.test == RETRY),
        }
        early, late = self._got("our.early"), self._got("our.received")
        if ours:
            checks["the early data was sent"] = second["early_sent"] == len(self.early)
            checks["our client was asked, or was not"] = second["asked"] != self.taken
            checks["no data of a server is early"] = not early
            if received is None:
                checks["the echo is what was sent"] = late == (b"" if self.taken else self.early) + self.late
            else:
                checks["the server has it all, once"] = received == self.early + self.late
                checks["the answer came"] = late == self.answer
        else:
            checks["the early data came early, or not at all"] = early == (self.early if self.taken else b"")
            checks["the rest came"] = late == self.late
            checks["the client has the answer"] = received.endswith(self.answer)
        return [f"not true: {text}" for text, right in checks.items() if not right]


def make(peers, short):
    tests = TESTS[:2] if short else TESTS
    return [EarlyCase(peer, role, test) for peer in peers if isinstance(peer, (OpenSsl, GnuTls))
            for role in peer.roles for test in tests]
