"""Steps about sessions, the keys of their tickets, and 0-RTT (README.md, sections 6 and 7)."""

from __future__ import annotations

import securestream as ss
from securestream import Fact, TicketDecryption

from .failure import Failure, require, same
from .form import form
from .rings import of_names
from .side import Call, same_status
from .world import World


def _the_session(world: World) -> ss.Session:
    if world.session is None:
        raise Failure("there is no session")
    return world.session


@form("when", "both connect anew with the session from bytes")
def _connect_from_bytes(world: World) -> None:
    world.make_anew(ss.Session(_the_session(world).to_bytes()))


@form("when", "both connect anew with the session")
def _connect(world: World) -> None:
    world.make_anew(_the_session(world))


@form("when", "the session may be used again")
def _may_be_used_again(world: World) -> None:
    _the_session(world).set_reusable()


@form("when", "ticket keys TEXT are rotated")
def _rotated(world: World, name: bytes) -> None:
    world.rings.of(name).rotate()


@form("when", "ticket keys TEXT are replaced by LIST")
def _replaced(world: World, name: bytes, keys: list[bytes]) -> None:
    world.rings.of(name).replace(of_names(keys))


@form("when", "ticket keys TEXT are taken away")
def _taken_away(world: World, name: bytes) -> None:
    world.rings.of(name).replace([])


# Facts


def _has(world: World, role: str, fact: Fact, wanted: bool) -> None:
    same(fact.name or "", fact in world.sides[role].stream.facts, wanted)


@form("then", "ROLE has resumed")
def _has_resumed(world: World, role: str) -> None:
    _has(world, role, Fact.RESUMED, True)
    require(world.sides[role].stream.is_resumed, "the flag is set, and is_resumed is not")


@form("then", "ROLE has not resumed")
def _has_not_resumed(world: World, role: str) -> None:
    _has(world, role, Fact.RESUMED, False)
    require(not world.sides[role].stream.is_resumed, "the flag is not set, and is_resumed is")


@form("then", "early data of ROLE was accepted")
def _was_accepted(world: World, role: str) -> None:
    _has(world, role, Fact.EARLY_DATA_ACCEPTED, True)


@form("then", "early data of ROLE was not accepted")
def _was_not_accepted(world: World, role: str) -> None:
    _has(world, role, Fact.EARLY_DATA_ACCEPTED, False)


def _reports(world: World, role: str, value: int) -> None:
    events = world.sides[role].events
    require(bool(events), "no event waits")
    event = events.pop(0)
    same("the event", (event.kind, event.value), (ss.EventKind.EARLY_DATA, value))


@form("then", "ROLE reports that early data was accepted")
def _reports_accepted(world: World, role: str) -> None:
    _reports(world, role, 1)


@form("then", "ROLE reports that early data was refused")
def _reports_refused(world: World, role: str) -> None:
    _reports(world, role, 0)


@form("then", "ROLE may encrypt N bytes early")
def _may_encrypt_early(world: World, role: str, size: int) -> None:
    same("bytes left", world.sides[role].stream.early_data_left, size)


@form("then", "ROLE decrypts early DATA HOW")
def _decrypts_early(world: World, role: str, data: bytes, in_place: bool) -> None:
    side = world.sides[role]
    before = side.early_bytes
    plaintext, status = side.deliver(Call.DECRYPT_IN_PLACE if in_place else Call.DECRYPT)
    same("plaintext", plaintext, data)
    same("bytes that came early", side.early_bytes - before, len(data))
    same_status("decrypt", status, ss.Status.NEED_INPUT)


@form("then", "ROLE has got N sessions")
def _has_got(world: World, role: str, count: int) -> None:
    same("sessions", world.sides[role].sessions, count)


@form("then", "the session lasts N seconds")
def _lasts(world: World, seconds: int) -> None:
    session = _the_session(world)
    lasts = session.expires - session.created
    require(seconds - 30 <= lasts <= seconds, f"the session lasts {lasts} seconds")


@form("then", "the session allows N bytes of early data")
def _allows(world: World, size: int) -> None:
    same("bytes", _the_session(world).max_early_data, size)


@form("then", "the session is of TLS V")
def _is_of(world: World, version: ss.Version) -> None:
    same("the version", _the_session(world).version, version)


@form("then", "ROLE has a ticket to open")
def _has_ticket(world: World, role: str) -> None:
    question = world.sides[role].stream.question
    require(isinstance(question, TicketDecryption) and bool(question.ticket), f"the question is {question}")


@form("then", "ROLE has no ticket to open")
def _has_no_ticket(world: World, role: str) -> None:
    question = world.sides[role].stream.question
    require(not isinstance(question, TicketDecryption), f"the question is {question}")
