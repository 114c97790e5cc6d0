"""Steps under then about what a stream says of itself (README.md, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificates

from securestream import CertificateError, Counter, Direction, EventKind, Fact, State, Version
from support import pem

from .failure import Failure, require, same
from .form import form
from .side import Side
from .world import World

_STATES = {
    "new": State(0),
    "handshake": State.HANDSHAKE,
    "suspended": State.SUSPENDED,
    "open": State.OPEN,
    "we-closed": State.WE_CLOSED,
    "peer-closed": State.PEER_CLOSED,
    "truncated": State.TRUNCATED,
    "failed": State.FAILED,
    "ended-early": State.ENDED_EARLY,
}


@form("then", "ROLE is open")
def _is_open(world: World, role: str) -> None:
    state = world.sides[role].stream.state
    require(State.OPEN in state and State.FAILED not in state, f"expected open, got {state!r}")
    require(world.sides[role].stream.is_open, "is_open is not what the state says")


@form("then", "ROLE is open with TLS V")
def _is_open_with(world: World, role: str, version: Version) -> None:
    _is_open(world, role)
    same("version", world.sides[role].stream.version, version)


@form("then", "state of ROLE is LIST")
def _state_is(world: World, role: str, names: list[bytes]) -> None:
    state = State(0)
    for name in names:
        if name.decode("latin-1") not in _STATES:
            raise Failure(f"'{name.decode('latin-1')}' is no state")
        state |= _STATES[name.decode("latin-1")]
    same("state", repr(world.sides[role].stream.state), repr(state))


@form("then", "ROLE uses suite TEXT")
def _uses_suite(world: World, role: str, name: bytes) -> None:
    same("suite", world.sides[role].stream.info.suite_name.encode(), name)


@form("then", "ROLE uses group TEXT")
def _uses_group(world: World, role: str, name: bytes) -> None:
    same("group", world.sides[role].stream.info.group_name.encode(), name)


@form("then", "ROLE signs by TEXT")
def _signs_by(world: World, role: str, name: bytes) -> None:
    same("our signature", (world.sides[role].stream.info.local_scheme_name or "none").encode(), name)


@form("then", "ROLE is shown a signature by TEXT")
def _is_shown_signature(world: World, role: str, name: bytes) -> None:
    same("the peer's signature", (world.sides[role].stream.info.peer_scheme_name or "none").encode(), name)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


@form("then", "ROLE uses protocol TEXT")
def _uses_protocol(world: World, role: str, name: bytes) -> None:
    same("protocol", _bytes(world.sides[role].stream.alpn), name)


@form("then", "ROLE uses no protocol")
def _uses_no_protocol(world: World, role: str) -> None:
    same("protocol", world.sides[role].stream.alpn, None)


@form("then", "ROLE knows the server name TEXT")
def _knows_server_name(world: World, role: str, name: bytes) -> None:
    same("server name", _bytes(world.sides[role].stream.server_name), name)


@form("then", "ROLE knows no server name")
def _knows_no_server_name(world: World, role: str) -> None:
    same("server name", world.sides[role].stream.server_name, None)


# Certificates


@form("then", "ROLE has N peer certificates")
def _has_peer_certificates(world: World, role: str, count: int) -> None:
    same("peer certificates", len(world.sides[role].stream.peer_certificates), count)


def _same_certificate(chain: Sequence[bytes], index: int, leaf: str) -> None:
    require(index < len(chain), f"there are only {len(chain)} certificates")
    same(f"certificate {index}", chain[index], load_pem_x509_certificates(pem(leaf))[0].public_bytes(Encoding.DER))


@form("then", "peer certificate N of ROLE is LEAF")
def _peer_certificate_is(world: World, index: int, role: str, leaf: str) -> None:
    _same_certificate(world.sides[role].stream.peer_certificates, index, leaf)


@form("then", "sent certificate N of ROLE is LEAF")
def _sent_certificate_is(world: World, index: int, role: str, leaf: str) -> None:
    _same_certificate(world.sides[role].stream.local_certificates, index, leaf)


@form("then", "ROLE has sent N certificates")
def _has_sent_certificates(world: World, role: str, count: int) -> None:
    same("sent certificates", len(world.sides[role].stream.local_certificates), count)


@form("then", "verified chain of ROLE has N certificates")
def _has_verified_chain(world: World, role: str, count: int) -> None:
    same("verified certificates", len(world.sides[role].stream.verified_chain), count)


@form("then", "verified certificate N of ROLE is LEAF")
def _verified_certificate_is(world: World, index: int, role: str, leaf: str) -> None:
    _same_certificate(world.sides[role].stream.verified_chain, index, leaf)


def _refused_chain(world: World, role: str) -> tuple[bytes, ...]:
    error = world.sides[role].record
    return error.chain if isinstance(error, CertificateError) else ()


@form("then", "refused chain of ROLE has N certificates")
def _has_refused(world: World, role: str, count: int) -> None:
    same("refused certificates", len(_refused_chain(world, role)), count)


@form("then", "refused certificate N of ROLE is LEAF")
def _refused_certificate_is(world: World, index: int, role: str, leaf: str) -> None:
    _same_certificate(_refused_chain(world, role), index, leaf)


@form("then", "ROLE has verified its peer")
def _has_verified(world: World, role: str) -> None:
    same("verified", world.sides[role].stream.is_verified, True)


@form("then", "ROLE has not verified its peer")
def _has_not_verified(world: World, role: str) -> None:
    same("verified", world.sides[role].stream.is_verified, False)


@form("then", "ROLE saw a retry")
def _saw_retry(world: World, role: str) -> None:
    same("retry", Fact.HELLO_RETRY in world.sides[role].stream.facts, True)


@form("then", "ROLE saw no retry")
def _saw_no_retry(world: World, role: str) -> None:
    same("retry", Fact.HELLO_RETRY in world.sides[role].stream.facts, False)


# Output and counters


@form("then", "ROLE has output waiting")
def _has_output(world: World, role: str) -> None:
    require(world.sides[role].stream.output_size > 0, "no output waits")


@form("then", "ROLE has no output waiting")
def _has_no_output(world: World, role: str) -> None:
    same("bytes of output", world.sides[role].stream.output_size, 0)


@form("then", "ROLE has sent N records")
def _has_sent_records(world: World, role: str, count: int) -> None:
    same("records sent", world.sides[role].stream.counter(Counter.RECORDS_SENT), count)


@form("then", "ROLE has sent N key updates")
def _has_sent_updates(world: World, role: str, count: int) -> None:
    same("key updates sent", world.sides[role].stream.counter(Counter.KEY_UPDATES_SENT), count)


@form("then", "ROLE has received N key updates")
def _has_received_updates(world: World, role: str, count: int) -> None:
    same("key updates received", world.sides[role].stream.counter(Counter.KEY_UPDATES_RECEIVED), count)


# Events


def _reports(side: Side, kind: EventKind, number: int) -> None:
    require(bool(side.events), "no event waits")
    event = side.events.pop(0)
    same("event", (event.kind, event.value), (kind, number))


@form("then", "ROLE reports alert N")
def _reports_alert(world: World, role: str, alert: int) -> None:
    _reports(world.sides[role], EventKind.ALERT_RECEIVED, alert)


@form("then", "ROLE reports new sending keys")
def _reports_sending_keys(world: World, role: str) -> None:
    _reports(world.sides[role], EventKind.KEYS_UPDATED, Direction.SEND)


@form("then", "ROLE reports new receiving keys")
def _reports_receiving_keys(world: World, role: str) -> None:
    _reports(world.sides[role], EventKind.KEYS_UPDATED, Direction.RECEIVE)


@form("then", "ROLE reports nothing more")
def _reports_nothing(world: World, role: str) -> None:
    same("events", world.sides[role].events, [])


@form("then", "key log of ROLE has N lines")
def _key_log_has_lines(world: World, role: str, count: int) -> None:
    same("lines of the key log", len(world.sides[role].lines), count)


@form("then", "key log of ROLE has a line TEXT")
def _key_log_has_line(world: World, role: str, label: bytes) -> None:
    words = [line.split(" ")[0].encode("latin-1") for line in world.sides[role].lines]
    require(label in words, f"the key log has no line {label!r}, but {words}")
