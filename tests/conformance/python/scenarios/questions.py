"""Steps under then about questions: what a stream stops for, and the facts that it offers (README.md, section 7)."""

from __future__ import annotations

from typing import TypeVar

from cryptography.x509 import load_pem_x509_certificates

import securestream as ss
from securestream import CertificateRequest, ClientHello, PeerCertificate, PrivateKeyOperation, State, Status
from support import GROUPS, SCHEMES, SUITES, VERSIONS, pem

from .clauses import numbers
from .failure import Failure, require, same
from .form import code_of_name, form
from .side import Call, named, same_status
from .wire import records
from .world import OTHER, World

_T = TypeVar("_T")

_KINDS: dict[Status, type] = {
    Status.WANT_CLIENT_HELLO: ClientHello,
    Status.WANT_CERTIFICATE: CertificateRequest,
    Status.WANT_CERTIFICATE_VERIFY: PeerCertificate,
    Status.WANT_PRIVATE_KEY_OPERATION: PrivateKeyOperation,
    Status.WANT_SESSION: ss.SessionLookup,
    Status.WANT_TICKET_DECRYPT: ss.TicketDecryption,
    Status.WANT_EARLY_DATA_RETRY: ss.EarlyDataRetry,
}


@form("then", "ROLE stops for QUESTION")
def _stops_for(world: World, role: str, want: Status) -> None:
    side = world.sides[role]
    require(State.SUSPENDED in side.stream.state, f"expected suspended, got {side.stream.state!r}")
    progress = side.once(Call.HANDSHAKE, bytes(side.incoming.waiting))
    same_status("handshake", progress.status, want)
    same("bytes consumed and produced", (progress.consumed, progress.produced), (0, 0))
    require(type(side.stream.question) is _KINDS[want], f"the question is {side.stream.question}")


def _asked(world: World, role: str, kind: type[_T]) -> _T:
    question = world.sides[role].stream.question
    if not isinstance(question, kind):
        raise Failure(f"there is no {kind.__name__}, but {question}")
    return question


# The hello


@form("then", "hello of ROLE lists versions LIST")
def _lists_versions(world: World, role: str, names: list[bytes]) -> None:
    same("versions", _asked(world, role, ClientHello).versions, tuple(numbers(dict(VERSIONS), names)))


@form("then", "hello of ROLE lists suites LIST")
def _lists_suites(world: World, role: str, names: list[bytes]) -> None:
    same("suites", _asked(world, role, ClientHello).suites, tuple(numbers(SUITES, names)))


@form("then", "hello of ROLE lists groups LIST")
def _lists_groups(world: World, role: str, names: list[bytes]) -> None:
    same("groups", _asked(world, role, ClientHello).groups, tuple(numbers(GROUPS, names)))


@form("then", "hello of ROLE lists schemes LIST")
def _lists_schemes(world: World, role: str, names: list[bytes]) -> None:
    same("schemes", _asked(world, role, ClientHello).schemes, tuple(numbers(SCHEMES, names)))


@form("then", "hello of ROLE lists protocols LIST")
def _lists_protocols(world: World, role: str, names: list[bytes]) -> None:
    got = [name.encode("utf-8", "surrogateescape") for name in _asked(world, role, ClientHello).alpn]
    same("protocols", got, names)


@form("then", "hello of ROLE lists N protocols")
def _lists_many_protocols(world: World, role: str, count: int) -> None:
    same("protocols", len(_asked(world, role, ClientHello).alpn), count)


@form("then", "hello of ROLE has extension N")
def _has_extension(world: World, role: str, kind: int) -> None:
    require(bool(_asked(world, role, ClientHello).extension(kind)), f"there is no extension {kind}")


@form("then", "hello of ROLE has no extension N")
def _has_no_extension(world: World, role: str, kind: int) -> None:
    same(f"extension {kind}", _asked(world, role, ClientHello).extension(kind), b"")


@form("then", "extension N in hello of ROLE is DATA")
def _extension_is(world: World, kind: int, role: str, data: bytes) -> None:
    same(f"extension {kind}", _asked(world, role, ClientHello).extension(kind), data)


@form("then", "hello of ROLE is what was sent")
def _is_what_was_sent(world: World, role: str) -> None:
    found, _ = records(world.sides[OTHER[role]].outgoing.put)
    sent = b"".join(record.payload for record in found)
    same("the hello", _asked(world, role, ClientHello).message, sent[4 : 4 + int.from_bytes(sent[1:4], "big")])


@form("then", "hello of ROLE is gone")
def _is_gone(world: World, role: str) -> None:
    require(not isinstance(world.sides[role].stream.question, ClientHello), "there is a hello")


# What the peer accepts


@form("then", "peer of ROLE accepts schemes LIST")
def _accepts_schemes(world: World, role: str, names: list[bytes]) -> None:
    same("schemes", _asked(world, role, CertificateRequest).schemes, tuple(numbers(SCHEMES, names)))


@form("then", "peer of ROLE accepts issuers LIST")
def _accepts_issuers(world: World, role: str, names: list[bytes]) -> None:
    subjects = [load_pem_x509_certificates(pem(name.decode()))[0].subject.public_bytes() for name in names]
    same("issuers", list(_asked(world, role, CertificateRequest).issuers), subjects)


@form("then", "peer of ROLE accepts any issuer")
def _accepts_any_issuer(world: World, role: str) -> None:
    same("issuers", _asked(world, role, CertificateRequest).issuers, ())


# The verdict


def _verdict(world: World, role: str) -> ss.CertificateError | None:
    return _asked(world, role, PeerCertificate).verdict


@form("then", "verdict of ROLE is good")
def _verdict_is_good(world: World, role: str) -> None:
    same("the verdict", _verdict(world, role), None)


@form("then", "verdict of ROLE is CODE")
def _verdict_is(world: World, role: str, code: int) -> None:
    verdict = _verdict(world, role)
    same_status("the verdict", verdict.code if verdict else Status.OK, code)


@form("then", "reasons of the verdict of ROLE are LIST")
def _verdict_reasons(world: World, role: str, names: list[bytes]) -> None:
    verdict = _verdict(world, role)
    wanted = [code_of_name(name.decode("latin-1")) for name in names]
    require(None not in wanted, f"one of {names} is no reason")
    reasons = verdict.reasons if verdict else frozenset()
    same("reasons", sorted(map(named, reasons)), sorted({named(code) for code in wanted if code is not None}))


@form("then", "verdict of ROLE says TEXT")
def _verdict_says(world: World, role: str, text: bytes) -> None:
    verdict = _verdict(world, role)
    require(verdict is not None and text in verdict.record.message.encode(), f"expected {text!r} in '{verdict}'")


@form("then", "ROLE has no verdict")
def _has_no_verdict(world: World, role: str) -> None:
    require(not isinstance(world.sides[role].stream.question, PeerCertificate), "there is a verdict")


# The private key


@form("then", "ROLE is to sign by TEXT")
def _signs_by(world: World, role: str, name: bytes) -> None:
    same("the scheme", _asked(world, role, PrivateKeyOperation).scheme, numbers(SCHEMES, [name])[0])


@form("then", "ROLE is to sign N bytes")
def _signs_bytes(world: World, role: str, size: int) -> None:
    same("bytes to sign", len(_asked(world, role, PrivateKeyOperation).message), size)


@form("then", "what ROLE is to sign begins with DATA")
def _message_begins(world: World, role: str, data: bytes) -> None:
    same("what is to be signed", _asked(world, role, PrivateKeyOperation).message[: len(data)], data)


@form("then", "ROLE is to sign nothing")
def _signs_nothing(world: World, role: str) -> None:
    require(not isinstance(world.sides[role].stream.question, PrivateKeyOperation), "there is something to sign")
