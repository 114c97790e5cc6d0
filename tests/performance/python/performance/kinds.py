"""What an op of each kind is (README.md, section 3)."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path

import securestream as ss
from securestream import Status
from support import pattern

from .cases import Case
from .pair import Hand, Party, Streams, Unexpected
from .sessions import Resumer

_ECHO = 16384  # what every pair has sent and read in each direction
_TRACED_PAIRS = 100


class Work(ABC):
    bytes_per_op = 0  # of plaintext
    things_per_op = 0  # handshakes or echoes

    @abstractmethod
    def run(self, ops: int) -> None:
        """A pass. Raises `Unexpected`."""

    def check(self) -> None:
        """What was read last is what was sent. Raises `Unexpected`."""


class Buffers:
    """Plaintext, its records, and what was read of them."""

    def __init__(self, sender: ss.Stream, size: int) -> None:
        self.plain = pattern(size)
        self.wire = memoryview(bytearray(sender.encrypted_size(size)))
        self.read = bytearray(size + ss.RECORD_MAX)
        self.nothing = bytes(size)


class Lane:
    """One direction."""

    def __init__(self, sender: ss.Stream, receiver: ss.Stream, buffers: Buffers) -> None:
        self._sender, self._receiver, self._buffers = sender, receiver, buffers

    def move(self, rounds: int) -> None:
        """So often: encrypt in one call and decrypt in one."""
        encrypt, decrypt = self._sender.encrypt_into, self._receiver.decrypt_into
        plain, wire, room = self._buffers.plain, self._buffers.wire, self._buffers.read
        size = len(plain)
        for _ in range(rounds):
            progress = encrypt(plain, wire)
            if progress.status != Status.OK:
                raise Unexpected(f"encrypt gives {progress}")
            progress = decrypt(wire[: progress.produced], room)
            if progress.status != Status.NEED_INPUT or progress.produced != size:
                raise Unexpected(f"decrypt gives {progress}")

    def read_nothing(self) -> None:
        progress = self._receiver.decrypt_into(b"", self._buffers.read)
        if progress.status != Status.NEED_INPUT or progress.produced:
            raise Unexpected(f"decrypt of nothing gives {progress}")

    def check(self) -> None:
        buffers = self._buffers
        if not buffers.read.startswith(buffers.plain):
            raise Unexpected("other bytes came than were sent")
        buffers.read[: len(buffers.nothing)] = buffers.nothing


class Opener:
    """Opens pairs that have sent and read in each direction."""

    def __init__(self, party: Party) -> None:
        self._hand = Hand(party)
        self._buffers: Buffers | None = None

    def open(self) -> Streams:
        client, server = streams = self._hand.open()
        self._buffers = self._buffers or Buffers(server, _ECHO)  # a ticket of the server's waits
        for lane in (Lane(client, server, self._buffers), Lane(server, client, self._buffers)):
            lane.move(1)
            lane.check()
        return streams


def lanes(streams: Streams, size: int) -> tuple[Lane, Lane]:
    """There and back."""
    client, server = streams
    return Lane(client, server, Buffers(client, size)), Lane(server, client, Buffers(server, size))


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
        _together([partial(lane.move, ops * self._rounds) for lane in self._lanes])

    def check(self) -> None:
        for lane in self._lanes:
            lane.check()


class Handshakes(Work):
    """handshake."""

    def __init__(self, case: Case) -> None:
        self._party, self._fresh = Party(case), case.fresh_configs
        self._hands = [Hand(self._party, case.over) for _ in range(case.threads)]
        opener = Opener(self._party)
        self._idle = [opener.open() for _ in range(case.streams // 2)]
        self.things_per_op = case.threads

    def run(self, ops: int) -> None:
        _together([partial(self._shake, hand, ops) for hand in self._hands])

    def _shake(self, hand: Hand, ops: int) -> None:
        for _ in range(ops):
            if self._fresh:
                self._party.renew()
            hand.open()


class Resumed(Work):
    """resumed and early."""

    things_per_op = 1

    def __init__(self, case: Case) -> None:
        self._resumer = Resumer(case)

    def run(self, ops: int) -> None:
        for _ in range(ops):
            self._resumer.connect()

    def check(self) -> None:
        self._resumer.check()


class Echoes(Work):
    """echo."""

    def __init__(self, case: Case) -> None:
        opener = Opener(Party(case))
        self._lanes = [lanes(opener.open(), case.size) for _ in range(case.threads)]
        self._idle = [opener.open() for _ in range(case.streams // 2)]
        self._rounds = case.rounds
        self.things_per_op = case.rounds * case.threads
        self.bytes_per_op = 2 * case.size * self.things_per_op

    def run(self, ops: int) -> None:
        _together([partial(self._echo, *pair, ops * self._rounds) for pair in self._lanes])

    @staticmethod
    def _echo(there: Lane, back: Lane, rounds: int) -> None:
        for _ in range(rounds):
            there.move(1)
            back.move(1)

    def check(self) -> None:
        for pair in self._lanes:
            for lane in pair:
                lane.check()


class Idle(Work):
    """idle. The first pair stays open: what all streams share is not counted."""

    def __init__(self, case: Case) -> None:
        self.pairs = case.streams // 2
        self._opener = Opener(Party(case))
        self._first = self._opener.open()
        self._clients: list[ss.Stream] = []
        self._servers: list[ss.Stream] = []

    def run(self, ops: int) -> None:
        for _ in range(ops):
            client, server = self._opener.open()
            self._clients.append(client)
            self._servers.append(server)

    def weigh(self) -> dict[str, float | None]:
        """What the streams hold. They are dropped."""
        peak = _peak_rss()
        return {
            "bytes_per_client": _drop(self._clients),
            "bytes_per_server": _drop(self._servers),
            "language_bytes_per_stream": self._traced(),
            "peak_rss": peak,
        }

    def _traced(self) -> float:
        """Bytes of Python's own for a stream."""
        held: list[Streams | None] = [None] * _TRACED_PAIRS
        tracemalloc.start()
        try:
            for i in range(_TRACED_PAIRS):
                held[i] = self._opener.open()
            gc.collect()
            return tracemalloc.get_traced_memory()[0] / (2 * _TRACED_PAIRS)
        finally:
            tracemalloc.stop()


def _drop(streams: list[ss.Stream]) -> float:
    """The bytes of the library that go with each of them."""
    before, count = ss.allocated_bytes(), len(streams)
    streams.clear()
    return (before - ss.allocated_bytes()) / count


def _peak_rss() -> float | None:
    """What getrusage gives is no less than what the program was that started this one; VmHWM is of this one alone."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024.0 for line in lines if line.startswith("VmHWM:")), None)


def _together(calls: list[Callable[[], None]]) -> None:
    """Make the calls at once, the first on this thread. Raises what one of them raises."""
    failures: list[BaseException] = []

    def make(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=make, args=(call,)) for call in calls[1:]]
    for thread in threads:
        thread.start()
    make(calls[0])
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def begin(case: Case) -> Work:
    """What is measured, ready to run."""
    match case.kind:
        case "handshake":
            return Handshakes(case)
        case "resumed" | "early":
            return Resumed(case)
        case "echo":
            return Echoes(case)
        case "idle":
            return Idle(case)
    size, (there, back) = case.size, lanes(Opener(Party(case)).open(), case.size)
    match case.kind:
        case "write_read":
            return OneWay(there, size, case.rounds)
        case "read_write":
            return ReadFirst(there, size, case.rounds)
        case "transfer":
            return OneWay(there, size, case.total // size)
        case _:
            return BothWays((there, back), size, case.rounds)
