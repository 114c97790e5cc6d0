"""Steps under when that change what waits on a wire (README.md, section 6)."""

from __future__ import annotations

from .failure import require
from .form import form
from .forge import HANDSHAKE
from .wire import HEADER, Record, records
from .world import World

_TLS12 = b"\x03\x03"


@form("when", "the wire to ROLE gets DATA")
def _gets_data(world: World, role: str, data: bytes) -> None:
    world.sides[role].incoming.write(data)


@form("when", "the wire to ROLE gets a plain TYPE record with DATA")
def _gets_plain_record(world: World, role: str, kind: int, data: bytes) -> None:
    require(len(data) <= 0xFFFF, "a record of more than 65535 bytes")
    world.sides[role].incoming.write(Record(kind, _TLS12, data).data)


@form("when", "the wire to ROLE gets a sealed TYPE record with DATA")
def _gets_sealed_record(world: World, role: str, kind: int, data: bytes) -> None:
    world.forge(role, kind, data, 1)


@form("when", "the wire to ROLE gets N sealed TYPE records with DATA")
def _gets_sealed_records(world: World, role: str, count: int, kind: int, data: bytes) -> None:
    world.forge(role, kind, data, count)


@form("when", "the wire to ROLE loses everything")
def _loses_everything(world: World, role: str) -> None:
    world.sides[role].incoming.cut(0)


@form("when", "the wire to ROLE is cut after N bytes")
def _cut_after(world: World, role: str, size: int) -> None:
    wire = world.sides[role].incoming
    require(size <= len(wire.waiting), f"only {len(wire.waiting)} bytes wait")
    wire.cut(size)


@form("when", "the wire to ROLE is cut in half")
def _cut_in_half(world: World, role: str) -> None:
    wire = world.sides[role].incoming
    require(len(wire.waiting) >= 2, f"only {len(wire.waiting)} bytes wait")
    wire.cut(len(wire.waiting) // 2)


@form("when", "the wire to ROLE is cut after N bytes of the last record")
def _cut_last_record(world: World, role: str, size: int) -> None:
    wire = world.sides[role].incoming
    found, rest = records(wire.waiting)
    require(bool(found), "no whole record waits")
    length = HEADER + len(found[-1].payload)
    require(size < length, f"the last record has {length} bytes")
    wire.cut(len(wire.waiting) - len(rest) - length + size)


@form("when", "the last byte to ROLE is changed")
def _change_last_byte(world: World, role: str) -> None:
    waiting = world.sides[role].incoming.waiting
    require(bool(waiting), "nothing waits")
    waiting[-1] ^= 1


@form("when", "the wire to ROLE is split into records of N bytes")
def _split(world: World, role: str, size: int) -> None:
    wire = world.sides[role].incoming
    found, rest = records(wire.waiting)
    require(bool(found) and not rest, "no whole records wait, or more than that")
    require(size > 0, "records of 0 bytes")
    wire.cut(0)
    for record in found:
        whole = record.payload
        step = size if record.type == HANDSHAKE else max(1, len(whole))
        for at in range(0, max(1, len(whole)), step):
            wire.waiting += record._replace(payload=whole[at : at + step]).data
