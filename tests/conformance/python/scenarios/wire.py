"""What one side has produced and the other has not consumed (README.md, section 4)."""

from __future__ import annotations

from typing import NamedTuple

HEADER = 5


class Record(NamedTuple):
    type: int
    version: bytes
    payload: bytes

    @property
    def data(self) -> bytes:
        return bytes([self.type]) + self.version + len(self.payload).to_bytes(2, "big") + self.payload


def records(data: bytes | bytearray) -> tuple[list[Record], bytes]:
    """The whole records at the head of data, and the rest."""
    found, at = [], 0
    while len(data) - at >= HEADER:
        end = at + HEADER + int.from_bytes(data[at + 3 : at + HEADER], "big")
        if end > len(data):
            break
        found.append(Record(data[at], bytes(data[at + 1 : at + 3]), bytes(data[at + HEADER : end])))
        at = end
    return found, bytes(data[at:])


class Wire:
    """A queue of bytes. `put` is all that was ever put on it, delivered or not."""

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.put = bytearray()

    def write(self, data: bytes | bytearray) -> None:
        self.waiting += data
        self.put += data

    def take(self, size: int) -> None:
        del self.waiting[:size]

    def cut(self, size: int) -> None:
        del self.waiting[size:]
