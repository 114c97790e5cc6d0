"""Steps under then about what is received, refused and failed (README.md, section 7)."""

from __future__ import annotations

from collections.abc import Callable

from securestream import CertificateError, SecureStreamError, State, Status

from .failure import Failure, require, same
from .form import Clause, code_of_name, form
from .side import Call, Side, named, same_status
from .wire import records
from .world import OTHER, World


@form("then", "ROLE decrypts DATA HOW END")
def _decrypts(world: World, role: str, data: bytes, in_place: bool, end: int) -> None:
    plaintext, status = world.sides[role].deliver(Call.DECRYPT_IN_PLACE if in_place else Call.DECRYPT)
    same("plaintext", plaintext, data)
    same_status("decrypt", status, end)


@form("then", "DATA waits for ROLE")
def _waits(world: World, data: bytes, role: str) -> None:
    same("what waits", bytes(world.sides[role].incoming.waiting), data)


@form("then", "N records wait for ROLE")
def _records_wait(world: World, count: int, role: str) -> None:
    found, rest = records(world.sides[role].incoming.waiting)
    same("bytes behind the records", len(rest), 0)
    same("records that wait", len(found), count)


# Refused calls


def _refused(side: Side, call: Call, data: bytes, code: int) -> None:
    progress = side.once(call, data)
    same_status(call.value, progress.status, code)
    if call == Call.ENCRYPT:
        same("bytes consumed and produced", (progress.consumed, progress.produced), (0, 0))


def _code_of(call: Callable[[], None]) -> int:
    try:
        call()
    except SecureStreamError as error:
        return error.code
    return Status.OK


@form("then", "ROLE encrypting DATA fails with CODE")
def _encrypting_fails(world: World, role: str, data: bytes, code: int) -> None:
    _refused(world.sides[role], Call.ENCRYPT, data, code)


@form("then", "ROLE decrypting fails with CODE")
def _decrypting_fails(world: World, role: str, code: int) -> None:
    _refused(world.sides[role], Call.DECRYPT, b"", code)


@form("then", "ROLE shaking hands fails with CODE")
def _shaking_hands_fails(world: World, role: str, code: int) -> None:
    _refused(world.sides[role], Call.HANDSHAKE, b"", code)


@form("then", "ROLE closing fails with CODE")
def _closing_fails(world: World, role: str, code: int) -> None:
    _refused(world.sides[role], Call.CLOSE, b"", code)


@form("then", "ROLE aborting with alert N fails with CODE")
def _aborting_fails(world: World, role: str, alert: int, code: int) -> None:
    same_status("abort", _code_of(lambda: world.sides[role].stream.abort(alert)), code)


@form("then", "ROLE updating its keys fails with CODE")
def _updating_fails(world: World, role: str, code: int) -> None:
    same_status("key_update", _code_of(world.sides[role].stream.key_update), code)


@form("then", "a ROLE CLAUSES is refused with CODE")
def _is_refused(world: World, role: str, clauses: list[Clause], code: int) -> None:
    same_status(f"making such a {role}", _code(world.try_to_make(role, clauses)), code)


@form("then", "a ROLE is refused with CODE")
def _plain_is_refused(world: World, role: str, code: int) -> None:
    _is_refused(world, role, [], code)


@form("then", "a ROLE CLAUSES is refused with CODE and says TEXT")
def _is_refused_and_says(world: World, role: str, clauses: list[Clause], code: int, text: bytes) -> None:
    error = world.try_to_make(role, clauses)
    same_status(f"making such a {role}", _code(error), code)
    message = error.record.message if error else ""
    require(text in message.encode(), f"expected {text!r} in the message '{message}'")


@form("then", "a ROLE is refused with CODE and says TEXT")
def _plain_is_refused_and_says(world: World, role: str, code: int, text: bytes) -> None:
    _is_refused_and_says(world, role, [], code, text)


@form("then", "the old connection carries DATA")
def _old_carries(world: World, data: bytes) -> None:
    require(bool(world.old), "there is no old connection")
    for role, side in world.old.items():
        same_status("encrypt", side.send(Call.ENCRYPT, data), Status.OK)
        plaintext, status = world.old[OTHER[role]].deliver(Call.DECRYPT)
        same("plaintext", plaintext, data)
        same_status("decrypt", status, Status.NEED_INPUT)


# Failures


def _code(error: SecureStreamError | None) -> int:
    return Status.OK if error is None else error.code


@form("then", "ROLE fails with CODE")
def _fails_with(world: World, role: str, code: int) -> None:
    side = world.sides[role]
    same_status("the code of the record", _code(side.record), code)
    call = Call.DECRYPT if side.stream.state & State.OPEN else Call.HANDSHAKE
    same_status(f"the next {call.value}", side.once(call).status, code)


@form("then", "alert ALERTS reaches ROLE")
def _alert_reaches(world: World, alerts: list[int], role: str) -> None:
    side, other = world.sides[role], world.sides[OTHER[role]]
    same_status("flush", other.send(Call.FLUSH), Status.OK)
    status: int = Status.OK
    if not side.stream.state & State.OPEN:
        status = side.shake_hands()
    if status == Status.OK:
        plaintext, status = side.deliver(Call.DECRYPT)
        same("plaintext", plaintext, b"")
    error = side.record
    received = error.alert_received if error else None
    if error is None or received is None or received not in alerts:
        raise Failure(f"expected alert {' or '.join(map(str, alerts))}, got {received} ({named(status)})")
    same_status("the call that got it", status, Status.ERR_ALERT_RECEIVED - received)
    same_status("the code of the record", error.code, status)
    same("the alert sent", error.alert_sent, None)
    told = other.record
    same("the alert sent by the other", told.alert_sent if told else None, received)


@form("then", "ROLE sends no alert")
def _sends_no_alert(world: World, role: str) -> None:
    error = world.sides[role].record
    same("the alert sent", error.alert_sent if error else None, None)
    same("bytes of output", world.sides[role].stream.output_size, 0)


@form("then", "reasons of ROLE are LIST")
def _reasons_are(world: World, role: str, names: list[bytes]) -> None:
    error = world.sides[role].record
    codes = [code_of_name(name.decode("latin-1")) for name in names]
    for name, code in zip(names, codes):
        known = code is not None and Status.ERR_CERT_OTHER <= code <= Status.ERR_CERT_ISSUER_NOT_FOUND
        require(known, f"'{name.decode('latin-1')}' is no reason")
    reasons = error.reasons if isinstance(error, CertificateError) else frozenset()
    same("reasons", sorted(map(named, reasons)), sorted({named(code) for code in codes if code is not None}))


@form("then", "ROLE has no reasons")
def _has_no_reasons(world: World, role: str) -> None:
    error = world.sides[role].record
    same("reasons", error.record.reasons if error else 0, 0)


@form("then", "hint of ROLE contains TEXT")
def _hint_contains(world: World, role: str, text: bytes) -> None:
    error = world.sides[role].record
    hint = error.hint if error else ""
    require(text in hint.encode(), f"expected {text!r} in the hint '{hint}'")


@form("then", "message of ROLE contains TEXT")
def _message_contains(world: World, role: str, text: bytes) -> None:
    error = world.sides[role].record
    message = error.record.message if error else ""
    require(text in message.encode(), f"expected {text!r} in the message '{message}'")
