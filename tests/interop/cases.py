"""The cases: what is set on either side, how the data goes, and what must come of it."""

from __future__ import annotations

import dataclasses

import exceptions
from pki import KINDS
from peers.base import Peer

NAME = "server.test"
# A group for each curve: TLS 1.2 takes a certificate on P-521 only with its group (RFC 8422, 5.1.1).
GROUPS = "4588,29,23,24,25"
SCHEMES = {
    "1.3": {"p256": {0x0403}, "p384": {0x0503}, "p521": {0x0603}, "ed25519": {0x0807},
            "rsa2048": {0x0804, 0x0805, 0x0806}},
    # TLS 1.2 names the digest only; and RSA has PKCS #1 besides.
    "1.2": {**dict.fromkeys(("p256", "p384", "p521"), {0x0403, 0x0503, 0x0603}), "ed25519": {0x0807},
            "rsa2048": {0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601}},
}
# What a side that stops at every question is asked, when each side shows a certificate, in the order of the messages
# (RFC 8446, 2; RFC 5246, 7.3): a server signs before it sees the client's certificate, a client has its config already.
QUESTIONS = {
    "client": ["WANT_CERTIFICATE_VERIFY", "WANT_CERTIFICATE", "WANT_PRIVATE_KEY_OPERATION"],
    "server": ["WANT_CLIENT_HELLO", "WANT_CERTIFICATE", "WANT_PRIVATE_KEY_OPERATION", "WANT_CERTIFICATE_VERIFY"],
}
# The alerts that a peer may choose for a fault (RFC 8446, 6.2; RFC 5246, 7.2.2).
FOR_EXPIRED, FOR_UNTRUSTED, FOR_NAME = {45, 42, 46}, {48, 42, 46}, {42, 46}


@dataclasses.dataclass
class Refusal:
    """One side refuses the other: our code, the alert that we send (and the peer must report), or those it may send."""

    code: str
    sent: int = -1
    received: frozenset = frozenset()


@dataclasses.dataclass
class Case:
    peer: Peer
    role: str  # of the peer
    version: str
    test: str
    kind: str
    ours: dict
    theirs: dict
    order: str = "refused"  # who sends first: "client first", "server first", "exact" (no half-close), "refused"
    refusal: Refusal | None = None
    sends_certificate: bool | None = None  # our client is asked for one: it must be sent, or must not

    def name(self):
        return f"{self.peer.name}, {self.role}, TLS {self.version}, {self.test}, {self.kind}"


def certificate(pki, name):
    return {"cert": pki.path(f"{name}.pem"), "key": pki.path(f"{name}.key")}


class Maker:
    """Makes the cases of one peer, role and version. server and client are the flags of these sides, whoever it is."""

    def __init__(self, pki, peer, role, version):
        self.pki, self.peer, self.role, self.version = pki, peer, role, version
        self.cases = []

    def add(self, test, kind, server, client, **more):
        ours, theirs = (client, server) if self.role == "server" else (server, client)
        ours = {"groups": GROUPS, "min": self.version, "max": self.version, **ours}
        theirs = {"version": self.version, **theirs}
        self.cases.append(Case(self.peer, self.role, self.version, test, kind, ours, theirs, **more))

    def server(self, kind="p256", **more):
        return {**certificate(self.pki, f"server-{kind}"), **more}

    def client(self, **more):
        return {"ca": self.pki.path("root.pem"), "name": NAME, **more}

    def asking(self, kind="p256", how="require", **more):
        return self.server(kind, **{"client-auth": how, "ca": self.pki.path("root.pem")}, **more)

    def order(self, wanted):
        return "exact" if exceptions.no_half_close(self.peer, self.role, self.version, wanted) else wanted

    def data(self, kinds):
        for kind in kinds:
            self.add("data", kind, self.server(kind), self.client(), order=self.order("client first"))

    def server_first(self):
        if self.order("server first") == "server first":
            self.add("server first", "p256", self.server(), self.client(), order="server first")

    def mutual(self, kinds):
        for kind in kinds:
            self.add("mutual", kind, self.asking(), self.client(**certificate(self.pki, f"client-{kind}")),
                     order=self.order("client first"), sends_certificate=True)

    def suspended(self, kinds):
        """Our side stops at every question; each is answered after so many milliseconds."""
        for kind in kinds:
            self.add("suspended", kind, self.asking(kind), self.client(**certificate(self.pki, f"client-{kind}")),
                     order=self.order("client first"), sends_certificate=True)
            self.cases[-1].ours["suspend"] = "3"

    def refusal(self, test, code, sent, received, server, client, we_refuse):
        """we_refuse: the side that finds the fault is ours."""
        refusal = Refusal(code, sent) if we_refuse else Refusal("ERR_ALERT_RECEIVED", received=frozenset(received))
        self.add(test, "-", server, client, refusal=refusal)

    def refused_servers(self, tests=("other name", "expired", "untrusted")):
        ours = self.role == "server"
        faults = {
            "expired": ("server-expired", "ERR_CERT_EXPIRED", 45, FOR_EXPIRED),
            "untrusted": ("server-untrusted", "ERR_CERT_ISSUER_NOT_FOUND", 48, FOR_UNTRUSTED),
            "other name": ("server-other-name", "ERR_CERT_NAME_MISMATCH", 42, FOR_NAME),
        }
        for test in tests:
            chain, code, sent, received = faults[test]
            self.refusal(test, code, sent, received, certificate(self.pki, chain), self.client(), ours)

    def no_client_certificate(self):
        required = self.required()
        self.refusal("no client certificate", "ERR_PEER_CERT_REQUIRED", required, {required}, self.asking(),
                     self.client(), self.role == "client")

    def required(self):
        return 116 if self.version == "1.3" else 40  # RFC 8446, 4.4.2.4; RFC 5246, 7.4.6

    def refused_clients(self):
        ours = self.role == "client"
        # Our client would keep a certificate to itself whose issuer is not in the server's list: the untrusted one is
        # of an issuer with the right name and a wrong key.
        untrusted = "client-untrusted" if ours else "client-twin"
        if not ours:
            self.refusal("client of other issuer", "", -1, {self.required()}, self.asking(),
                         self.client(**certificate(self.pki, "client-untrusted")), False)
        for test, chain, code, sent, received in (
                ("client expired", "client-expired", "ERR_CERT_EXPIRED", 45, FOR_EXPIRED),
                ("client untrusted", untrusted, "ERR_CERT_ISSUER_NOT_FOUND", 48, FOR_UNTRUSTED)):
            self.refusal(test, code, sent, received, self.asking(), self.client(**certificate(self.pki, chain)), ours)

    def nothing_in_common(self):
        ours = self.role == "client"  # it is the server that refuses
        other = "1.2" if self.version == "1.3" else "1.3"
        server, client = self.server(), self.client()
        (server if self.role == "server" else client)["version"] = other
        self.refusal("version", "ERR_NO_SHARED_VERSION", 70, {70}, server, client, ours)
        # curl has a list of its own, and no flag for it.
        client = self.client(alpn="interop/1")
        self.refusal("ALPN", "ERR_NO_APPLICATION_PROTOCOL", 120, {120}, self.server(alpn="other/1"), client, ours)

    def pss_keys(self):
        """RSASSA-PSS keys are not accepted: their server has no scheme that we offer, their client no certificate."""
        if self.role == "server":
            self.refusal("RSASSA-PSS key", "", -1, {40}, self.server("rsa-pss"), self.client(), False)
        else:
            self.refusal("RSASSA-PSS key", "ERR_PEER_CERT_REQUIRED", self.required(), set(), self.asking(),
                         self.client(**certificate(self.pki, "client-rsa-pss")), True)

    def limited_requests(self):
        """A request that names only some types or schemes: a certificate that does not fit stays at home."""
        if self.role != "server":
            return
        for kind, fits in self.peer.limited_requests(self.version):
            for flags, sent in fits:
                self.add(f"asks for {next(iter(flags.values()))}", kind, self.asking(how="request", **flags),
                         self.client(**certificate(self.pki, f"client-{kind}")), order=self.order("client first"),
                         sends_certificate=sent)


def make(pki, peers, short):
    cases = []
    for peer in peers:
        for role in peer.roles:
            for version in ("1.2", "1.3"):
                maker = Maker(pki, peer, role, version)
                if short:
                    maker.data(["p256"])
                    maker.mutual(["p256"])
                    maker.refused_servers(["other name"])
                    maker.no_client_certificate()
                    if peer.name in (exceptions.OPENSSL, exceptions.GNUTLS, exceptions.GO):
                        maker.suspended(["p256"])
                else:
                    maker.data(KINDS)
                    maker.server_first()
                    maker.mutual(KINDS)
                    maker.suspended(KINDS)
                    maker.refused_servers()
                    maker.no_client_certificate()
                    maker.refused_clients()
                    maker.nothing_in_common()
                    maker.pss_keys()
                maker.limited_requests()
                cases += maker.cases
    return cases
