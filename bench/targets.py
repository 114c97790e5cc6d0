"""The targets for C (docs/performance.md), each with what was measured: a row that was not measured is a MISS."""

from typing import Any, Callable, NamedTuple

PROTOCOL_PEERS = ("openssl", "go", "gnutls", "java")
REPORTED_PEERS = ("rustls", "rustls_unbuffered", "s2n")


class Row(NamedTuple):
    what: str
    target: str
    measured: str
    ok: bool


class Missing(Exception):
    """A figure that a row needs was not measured."""


class Figures:
    """Looks results up."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.timed = {(r["kind"], r["argument"], r["peer"]): r for r in results["timed"]}
        self.counts = {(r["kind"], r["argument"], r["peer"]): r for r in results["counted"]}
        self.scale = {(r["kind"], r["streams"]): r for r in results["scale"]}

    def best(self, kind: str, argument: str, peer: str = "securestream") -> float:
        try:
            return self.timed[kind, argument, peer]["best"]
        except KeyError:
            raise Missing(f"{peer}: {kind} {argument}") from None

    def ratio(self, kind: str, argument: str, peer: str) -> float:
        return self.best(kind, argument) / self.best(kind, argument, peer)

    def shown(self, one: tuple[str, str, str], other: tuple[str, str, str]) -> str:
        """The ratio of the best passes of two cases, that of their medians, and how far the first's median is from its best."""
        best, medians = self.best(*one) / self.best(*other), self.timed[one]["median"] / self.timed[other]["median"]
        return f"{best:.3f} (medians {medians:.3f}, spread {self.timed[one]['spread']:.1%})"

    def quickest(self, kind: str, argument: str, but: tuple[str, ...]) -> tuple[float, str]:
        others = [(r["best"], p) for (k, a, p), r in self.timed.items() if (k, a) == (kind, argument) and p not in but]
        if not others:
            raise Missing(f"other peers: {kind} {argument}")
        return min(others)

    def calls(self, kind: str, argument: str, peer: str = "securestream") -> float:
        try:
            return self.counts[kind, argument, peer]["calls"]
        except KeyError:
            raise Missing(f"{peer}: heap calls of {kind} {argument}") from None


def row(what: str, target: str, measure: Callable[[], tuple[str, bool]]) -> Row:
    try:
        measured, ok = measure()
    except Missing as missing:
        measured, ok = f"not measured ({missing})", False
    return Row(what, target, measured, ok)


def most(figures: Figures, kind: str, argument: str, peer: str, limit: float) -> Callable[[], tuple[str, bool]]:
    """Our time is at most limit times that of peer."""

    def measure() -> tuple[str, bool]:
        ours, theirs = (kind, argument, "securestream"), (kind, argument, peer)
        return figures.shown(ours, theirs), figures.ratio(kind, argument, peer) <= limit

    return measure


def throughput(figures: Figures, kind: str, argument: str, limit: float) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        ours, theirs = (kind, argument, "securestream"), (kind, argument, "aead")
        return figures.shown(theirs, ours), 1 / figures.ratio(kind, argument, "aead") >= limit

    return measure


def below_all(figures: Figures, kind: str, argument: str) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        best, peer = figures.quickest(kind, argument, ("securestream", "aead"))
        ratio = figures.best(kind, argument) / best
        return f"{ratio:.2f} of {peer}, the quickest", ratio < 1

    return measure


def below(figures: Figures, kind: str, argument: str, peer: str) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        ratio = figures.ratio(kind, argument, peer)
        return f"{ratio:.2f}", ratio < 1

    return measure


def told(figures: Figures, kind: str, argument: str, peer: str) -> Callable[[], tuple[str, bool]]:
    """Reported, not judged."""

    def measure() -> tuple[str, bool]:
        return f"{figures.ratio(kind, argument, peer):.2f}", True

    return measure


def scaling(figures: Figures, together: tuple[str, str], alone: tuple[str, str],
            limit: float) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        ratio = figures.best(*alone) / figures.best(*together)
        return figures.shown((*alone, "securestream"), (*together, "securestream")), ratio >= limit

    return measure


def many(figures: Figures, kind: str) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        counts = sorted(count for k, count in figures.scale if k == kind)
        if len(counts) != 2:
            raise Missing(f"scale of {kind}")
        ratio = figures.scale[kind, counts[1]]["best"] / figures.scale[kind, counts[0]]["best"]
        return f"{ratio:.3f}", ratio <= 1.10

    return measure


def of_full(figures: Figures, kind: str, argument: str, limit: float) -> Callable[[], tuple[str, bool]]:
    """Our time is at most limit times that of our full handshake."""

    def measure() -> tuple[str, bool]:
        resumed, full = (kind, argument, "securestream"), ("handshake", argument, "securestream")
        ratio = figures.best(*resumed) / figures.best(*full)
        return figures.shown(resumed, full), ratio <= limit

    return measure


def idle(figures: Figures, name: str, side: int, limit: int) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        found = [r["bytes"] for (kind, _, peer), r in figures.counts.items() if (kind, peer) == (name, "securestream")]
        if not found:
            raise Missing(name)
        return f"{found[0][side]:.0f} B", found[0][side] <= limit

    return measure


def no_calls(figures: Figures) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        counts = [figures.calls(*case) for case in (("move", "1"), ("move", "16384"), ("move", "1048576"), ("place", "16384"))]
        return ", ".join(f"{count:g}" for count in counts), not any(counts)

    return measure


def heap_ratio(figures: Figures, argument: str) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        ours, theirs = figures.calls("handshake", argument), figures.calls("handshake", argument, "boringssl")
        return f"{ours / theirs:.3f} ({ours:.0f} and {theirs:.0f})", ours <= theirs

    return measure


def data_rows(f: Figures) -> list[Row]:
    found = [row("1 B, encrypt + decrypt: raw AEAD", "<= 1.20", most(f, "move", "1", "aead", 1.20)),
             row("1 B: BoringSSL, window BIO", "<= 0.45", most(f, "move", "1", "boringssl", 0.45)),
             row("1 B: every peer", "< 1.00", below_all(f, "move", "1"))]
    for size, name in (("16384", "16 KiB"), ("1048576", "1 MiB")):
        found += [row(f"{name}, encrypt: throughput of raw AEAD", ">= 0.97", throughput(f, "seal", size, 0.97)),
                  row(f"{name}, decrypt: throughput of raw AEAD", ">= 0.97", throughput(f, "open", size, 0.97)),
                  row(f"{name}, both: BoringSSL, window BIO", "<= 0.72", most(f, "move", size, "boringssl", 0.72)),
                  row(f"{name}: every peer", "< 1.00", below_all(f, "move", size)),
                  row(f"{name}, decrypt in place: throughput of raw AEAD", ">= 0.99", throughput(f, "place", size, 0.99))]
    found.append(row("heap calls per write: 1 B, 16 KiB, 1 MiB, in place", "0", no_calls(f)))
    return found


def handshake_rows(f: Figures) -> list[Row]:
    found = []
    for leaf, name in (("server-p256", "ECDSA P-256"), ("server-rsa2048", "RSA-2048")):
        found.append(row(f"handshake, {name}: BoringSSL, same verification", "<= 1.03",
                         most(f, "handshake", leaf, "boringssl", 1.03)))
        found.append(row(f"handshake, {name}: heap calls, of BoringSSL's", "<= 1.00", heap_ratio(f, leaf)))
        found += against_peers(f, "handshake", leaf, f"handshake, {name}")
    found += [row(f"handshake over TCP ({way}), of a pipe's", "<= 1.15", transport(f, way)) for way in ("ipv4", "ipv6")]
    return found


def against_peers(f: Figures, kind: str, leaf: str, name: str) -> list[Row]:
    return [*(row(f"{name}: {peer}", "< 1.00", below(f, kind, leaf, peer)) for peer in PROTOCOL_PEERS),
            *(row(f"{name}: {peer}", "report", told(f, kind, leaf, peer)) for peer in REPORTED_PEERS)]


def unverified(figures: Figures, leaf: str) -> Callable[[], tuple[str, bool]]:
    """Reported, not judged."""

    def measure() -> tuple[str, bool]:
        return f"{figures.best('resumed', leaf) / figures.best('unverified', leaf, 'boringssl'):.2f}", True

    return measure


def resumption_rows(f: Figures) -> list[Row]:
    """With the session as it came, and with one that was bytes, whose chain is verified whole again."""
    what = "resumption, of a full handshake with RSA-2048"
    found = [row(what, "<= 0.25", of_full(f, "resumed", "server-rsa2048", 0.25)),
             row(f"{what}, chain verified whole again", "<= 0.30", of_full(f, "reloaded", "server-rsa2048", 0.30))]
    for leaf, name in (("server-p256", "ECDSA P-256"), ("server-rsa2048", "RSA-2048")):
        shake = f"resumed handshake, {name}"
        found += [row(f"{shake}: BoringSSL, chain verified again", "<= 1.03", most(f, "resumed", leaf, "boringssl", 1.03)),
                  row(f"{shake}: the same, both sessions out of bytes", "<= 1.03",
                      most(f, "reloaded", leaf, "boringssl", 1.03)),
                  row(f"{shake}: BoringSSL, nothing verified again", "report", unverified(f, leaf))]
        found += against_peers(f, "resumed", leaf, shake)
    found.append(row("0-RTT of 1 KiB, ECDSA P-256: BoringSSL, chain verified again", "report",
                     told(f, "early", "server-p256", "boringssl")))
    return found


def transport(figures: Figures, way: str) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        ratio = figures.best("over", way) / figures.best("over", "unix")
        return figures.shown(("over", way, "securestream"), ("over", "unix", "securestream")), ratio <= 1.15

    return measure


def rows(results: dict[str, Any]) -> list[Row]:
    f = Figures(results)
    return [*data_rows(f), *handshake_rows(f), *resumption_rows(f),
            row("idle stream, heap: server", "<= 2,560 B", idle(f, "idle", 1, 2560)),
            row("idle stream, heap: client without sessions", "<= 2,560 B", idle(f, "idle", 0, 2560)),
            row("idle stream, heap: client with sessions", "<= 4,608 B", idle(f, "sessions", 0, 4608)),
            row("both directions of a stream, 1 B: of two streams' scaling", ">= 0.92",
                scaling(f, ("both", "1"), ("apart", "1"), 0.92)),
            row("both directions of a stream, 16 KiB: of two streams' scaling", ">= 0.92",
                scaling(f, ("both", "16384"), ("apart", "16384"), 0.92)),
            row("handshakes on two threads, one config: of two configs' scaling", ">= 0.95",
                scaling(f, ("two_handshakes", "shared"), ("two_handshakes", "own"), 0.95)),
            row("100,000 idle streams: a handshake, of that at 100", "<= 1.10", many(f, "handshake")),
            row("100,000 idle streams: 16 KiB, of that at 100", "<= 1.10", many(f, "move"))]
