"""What is measured, and of whom: the schedule of bench/run. README.md says what the kinds are."""

from typing import NamedTuple


class Case(NamedTuple):
    """One kind of op with its argument, and the peers that take turns in it."""

    kind: str
    argument: str
    peers: tuple[str, ...]
    tight: bool  # a row that is judged to less than 5 %: more passes
    unpinned: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind} {self.argument}"


# Peers that speak TLS, in the order of tables; "aead" is the limit of the data path.
TLS_PEERS = ("securestream", "boringssl", "openssl", "gnutls", "go", "rustls", "rustls_unbuffered", "s2n", "java")
DATA_SIZES = ("1", "16384", "1048576")
LEAVES = ("server-p256", "server-rsa2048")
OURS = ("securestream",)
VERIFYING = ("securestream", "boringssl")  # what is resumed, again
# Those with 0-RTT. (That of s2n is not in its crate.)
EARLY_PEERS = ("securestream", "boringssl", "openssl", "gnutls", "rustls", "rustls_unbuffered")
LIMIT = ("securestream", "boringssl", "aead")


def cases() -> list[Case]:
    found = [Case("move", size, (*TLS_PEERS, "aead"), True) for size in DATA_SIZES]
    for size in DATA_SIZES[1:]:
        found += [Case(kind, size, LIMIT, True) for kind in ("seal", "open")]
        found.append(Case("place", size, ("securestream", "aead"), True))
    for leaf in LEAVES:
        found += [Case(kind, leaf, TLS_PEERS, True) for kind in ("handshake", "resumed")]
        found += [Case("reloaded", leaf, VERIFYING, True), Case("unverified", leaf, ("boringssl",), True)]
    found.append(Case("early", "server-p256", EARLY_PEERS, True))
    found += [Case("over", way, OURS, False) for way in ("ipv4", "ipv6", "unix")]
    for size in DATA_SIZES[:2]:
        found += [Case(kind, size, OURS, False, True) for kind in ("both", "apart")]
    found += [Case("two_handshakes", whose, OURS, False, True) for whose in ("shared", "own")]
    return found


# Cases whose parts are compared with each other take turns too: they are scheduled as one.
GROUPS = {"seal": "direction", "open": "direction", "handshake": "handshake", "resumed": "handshake",
          "early": "handshake", "reloaded": "handshake", "unverified": "handshake", "over": "transport", "both": "threads",
          "apart": "threads", "two_handshakes": "two_handshakes"}


def groups(listed: list[Case]) -> list[list[Case]]:
    """The cases in runs that are interleaved: by kind and argument, or by what GROUPS joins."""
    found: dict[str, list[Case]] = {}
    for case in listed:
        joined = GROUPS.get(case.kind)
        sized = case.argument if joined in ("direction", "threads", "handshake") else ""
        key = case.name if joined is None else f"{joined} {sized}"
        found.setdefault(key, []).append(case)
    return list(found.values())


COUNTED = (("handshake", "server-p256", 50), ("handshake", "server-rsa2048", 50), ("resumed", "server-p256", 50),
           ("move", "1", 1000), ("move", "16384", 200), ("move", "1048576", 20), ("place", "16384", 200))
IDLE_PAIRS = 1000
# Whose idle streams are weighed with a session received as well.
SESSION_HOLDERS = ("securestream", "boringssl", "openssl", "gnutls")
MANY_STREAMS, FEW_STREAMS = 100_000, 100
