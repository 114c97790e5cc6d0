"""Steps under given and when that belong to streams (README.md, sections 5 and 6)."""

from __future__ import annotations

from securestream import Progress, SecureStreamError, Status

from .failure import Failure, same
from .form import Clause, form
from .side import Call, Side, named, same_status
from .world import World


@form("given", "a ROLE")
def _plain(world: World, role: str) -> None:
    pass  # it exists, said or not


@form("given", "a ROLE CLAUSES", "the ROLE CLAUSES")
def _plan(world: World, role: str, clauses: list[Clause]) -> None:
    world.plans[role] += clauses


@form("given", "ROLE gets N bytes a call")
@form("when", "ROLE gets N bytes a call")
def _set_chunk(world: World, role: str, size: int) -> None:
    world.sides[role].chunk = size


@form("given", "ROLE has room for N bytes")
@form("when", "ROLE has room for N bytes")
def _set_room(world: World, role: str, size: int) -> None:
    world.sides[role].room = size


@form("given", "a config TEXT")
def _plain_config(world: World, name: bytes) -> None:
    world.describe(name, [])


@form("given", "a config TEXT CLAUSES")
def _config(world: World, name: bytes, clauses: list[Clause]) -> None:
    world.describe(name, clauses)


def _take_turn(side: Side) -> tuple[bool, bool]:
    """Whether the side has failed or waits for an answer, and whether it has got further."""
    if side.handshake_over:
        return False, False
    taken, sent = len(side.incoming.waiting), len(side.outgoing.put)
    status = side.shake_hands()
    moved = side.handshake_over or len(side.incoming.waiting) != taken or len(side.outgoing.put) != sent
    return status < 0 or status >= Status.WANT_CLIENT_HELLO, moved


@form("when", "both shake hands")
def _both_shake_hands(world: World) -> None:
    may_stall = False
    while not all(side.handshake_over for side in world.sides.values()):
        turns = [_take_turn(side) for side in world.sides.values()]
        may_stall = may_stall or any(may for may, _ in turns)
        if not any(moved for _, moved in turns):
            if not may_stall:
                raise Failure("stall: both sides wait for input")
            return


@form("when", "ROLE shakes hands")
def _shakes_hands(world: World, role: str) -> None:
    world.sides[role].shake_hands()


@form("when", "ROLE encrypts DATA")
def _encrypts(world: World, role: str, data: bytes) -> None:
    same_status("encrypt", world.sides[role].send(Call.ENCRYPT, data), Status.OK)


@form("when", "ROLE flushes")
def _flushes(world: World, role: str) -> None:
    same_status("flush", world.sides[role].send(Call.FLUSH), Status.OK)


@form("when", "ROLE flushes N bytes")
def _flushes_some(world: World, role: str, size: int) -> None:
    progress: Progress = world.sides[role].once(Call.FLUSH, room=size)
    same_status("flush", progress.status, Status.NEED_OUTPUT)
    same("flushed bytes", progress.produced, size)


@form("when", "ROLE closes")
def _closes(world: World, role: str) -> None:
    same_status("close", world.sides[role].send(Call.CLOSE), Status.OK)


def _must_be_ok(what: str, error: SecureStreamError) -> Failure:
    return Failure(f"{what}: expected OK, got {named(error.code)}: {error}")


@form("when", "ROLE aborts with alert N")
def _aborts(world: World, role: str, alert: int) -> None:
    try:
        world.sides[role].stream.abort(alert)
    except SecureStreamError as error:
        raise _must_be_ok("abort", error) from error


@form("when", "ROLE updates its keys")
def _updates(world: World, role: str) -> None:
    try:
        world.sides[role].stream.key_update()
    except SecureStreamError as error:
        raise _must_be_ok("key_update", error) from error


@form("when", "ROLE updates its keys and asks for more")
def _updates_both(world: World, role: str) -> None:
    try:
        world.sides[role].stream.key_update(request_peer=True)
    except SecureStreamError as error:
        raise _must_be_ok("key_update", error) from error


@form("when", "the transport to ROLE ends")
def _transport_ends(world: World, role: str) -> None:
    try:
        world.sides[role].stream.input_eof()
    except SecureStreamError as error:
        raise _must_be_ok("input_eof", error) from error


@form("when", "ROLE reloads CLAUSES")
def _reloads(world: World, role: str, clauses: list[Clause]) -> None:
    world.reload(role, clauses)


@form("when", "both connect anew")
def _connect_anew(world: World) -> None:
    world.make_anew()
