"""What an op of each kind is (README.md, section 3)."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

import securestream as ss
from securestream import Status
from support import pattern

from .cases import Case
from .pair import Pair, Unexpected


class Work(ABC):
    bytes_per_op = 0  # of plaintext

    @abstractmethod
    def run(self, ops: int) -> None:
        """A pass. Raises `Unexpected`."""

    def check(self) -> None:
        """What was read last is what was sent. Raises `Unexpected`."""


class Lane:
    """One direction: its plaintext, its records, and what was read of them."""

    def __init__(self, sender: ss.Stream, receiver: ss.Stream, size: int) -> None:
        self._sender, self._receiver = sender, receiver
        self._plain = pattern(size)
        self._wire = memoryview(bytearray(sender.encrypted_size(size)))
        self._read = bytearray(size + ss.RECORD_MAX)
        self._nothing = bytes(size)

    def move(self, rounds: int) -> None:
        """So often: encrypt in one call and decrypt in one."""
        encrypt, decrypt = self._sender.encrypt_into, self._receiver.decrypt_into
        plain, wire, room, size = self._plain, self._wire, self._read, len(self._plain)
        for _ in range(rounds):
            progress = encrypt(plain, wire)
            if progress.status != Status.OK:
                raise Unexpected(f"encrypt gives {progress}")
            progress = decrypt(wire[: progress.produced], room)
            if progress.status != Status.NEED_INPUT or progress.produced != size:
                raise Unexpected(f"decrypt gives {progress}")

    def read_nothing(self) -> None:
        progress = self._receiver.decrypt_into(b"", self._read)
        if progress.status != Status.NEED_INPUT or progress.produced:
            raise Unexpected(f"decrypt of nothing gives {progress}")

    def check(self) -> None:
        if not self._read.startswith(self._plain):
            raise Unexpected("other bytes came than were sent")
        self._read[: len(self._nothing)] = self._nothing


class OneWay(Work):
    """write_read and transfer."""

    def __init__(self, lane: Lane, size: int, rounds: int) -> None:
        self.bytes_per_op = size * rounds
        self.lane, self.rounds = lane, rounds

    def run(self, ops: int) -> None:
        self.lane.move(ops * self.rounds)

    def check(self) -> None:
        self.lane.check()


class ReadFirst(OneWay):
    """read_write."""

    def run(self, ops: int) -> None:
        for _ in range(ops * self.rounds):
            self.lane.read_nothing()
            self.lane.move(1)


class BothWays(Work):
    """concurrent."""

    def __init__(self, lanes: tuple[Lane, Lane], size: int, rounds: int) -> None:
        self.bytes_per_op = 2 * size * rounds
        self._lanes, self._rounds = lanes, rounds

    def run(self, ops: int) -> None:
        failures: list[BaseException] = []

        def move(lane: Lane) -> None:
            try:
                lane.move(ops * self._rounds)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=move, args=(lane,)) for lane in self._lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def check(self) -> None:
        for lane in self._lanes:
            lane.check()


class Handshakes(Work):
    """handshake."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair

    def run(self, ops: int) -> None:
        for _ in range(ops):
            self._pair.open()


def begin(case: Case) -> Work:
    """What is measured, ready to run."""
    pair = Pair(case)
    if case.kind == "handshake":
        return Handshakes(pair)
    client, server = pair.open()
    for lane in (Lane(client, server, 16384), Lane(server, client, 16384)):
        lane.move(1)
        lane.check()
    there, size = Lane(client, server, case.size), case.size
    match case.kind:
        case "write_read":
            return OneWay(there, size, case.rounds)
        case "read_write":
            return ReadFirst(there, size, case.rounds)
        case "transfer":
            return OneWay(there, size, case.total // size)
        case _:
            return BothWays((there, Lane(server, client, size)), size, case.rounds)
