"""The receiving side of a connection: wire bytes become plaintext where they lie."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from contextlib import nullcontext
from threading import Lock

from . import _native
from ._sender import Sender, is_ready
from .constants import RECORD_MAX, Flag, Status
from .session import Session
from .stream import Stream

_RANGES = 256


class Receiver:
    """One buffer: plaintexts that nobody has read yet, and behind them wire bytes. For the holder of `lock`.

    `ending` is the status that ends the data, known when all before it is decrypted; None: it goes on. `is_early`: the
    client has not confirmed the handshake yet, and the stream is for one thread at a time. `gave_early`: the plaintexts
    are early data. `keep` gets the sessions that come.
    """

    def __init__(self, sock: socket.socket, stream: Stream, sender: Sender, received: memoryview) -> None:
        self.lock = Lock()
        self.ending: int | None = None
        self.is_early = self.gave_early = False
        self.keep: Callable[[Session], None] | None = None
        self._socket = sock
        self._stream = stream
        self._sender = sender
        self._is_eof = False
        self._buffer = memoryview(bytearray(max(4 * RECORD_MAX, len(received) + RECORD_MAX)))
        self._buffer[: len(received)] = received
        self._start, self._end = 0, len(received)
        self._plaintexts: list[tuple[int, int]] = []  # (offset, length), the next one last

    @property
    def wire(self) -> memoryview:
        """Wire bytes that are not decrypted."""
        return self._buffer[self._start : self._end]

    def consume(self, size: int) -> None:
        """Forget so many wire bytes."""
        self._start += size

    @property
    def size(self) -> int:
        """Bytes of plaintext. For any thread."""
        return sum(length for _, length in self._plaintexts)

    def take(self, size: int) -> list[memoryview]:
        """Up to `size` bytes of plaintext, good until the lock is given up."""
        pieces = []
        while size and self._plaintexts:
            offset, length = self._plaintexts.pop()
            taken = min(size, length)
            if taken < length:
                self._plaintexts.append((offset + taken, length - taken))
            pieces.append(self._buffer[offset : offset + taken])
            size -= taken
        return pieces

    def open_records(self) -> bool:
        """Decrypt what is there, once all plaintext is taken; False: more must be received first."""
        if not self.is_early:
            return self._open()
        with self._sender.lock:
            may_go_on = self._open()
        if self._stream.output_size:
            self._sender.answer()
        return may_go_on

    def _open(self) -> bool:
        progress, ranges = _native.sst_stream_decrypt_in_place(self._stream._handle, self.wire, _RANGES)
        self._plaintexts = [(self._start + offset, length) for offset, length in reversed(ranges) if length]
        self._start += progress.consumed
        if progress.status < 0 or progress.status == Status.CLOSED:
            self.ending = progress.status
        self.gave_early = bool(progress.flags & Flag.EARLY_DATA)
        self.is_early = self.is_early and self.gave_early
        if progress.flags & Flag.HAS_EVENT:
            self.keep_sessions()
        if progress.flags & Flag.HAS_OUTPUT:
            self._sender.answer()
        return progress.status != Status.NEED_INPUT or bool(ranges)

    def keep_sessions(self) -> None:
        while self.keep and (session := self._stream.take_session()):
            self.keep(session)

    def confirm(self, deadline: float) -> None:
        """Forget what comes until the client has confirmed the handshake, but not for longer than to a time."""
        while self.is_early and self.ending is None and time.monotonic() < deadline:
            self._plaintexts = []
            if not self.open_records() and self.is_early:
                self.receive()

    def receive(self) -> None:
        """Wait for wire bytes, once all plaintext is taken; the end of the transport goes to the stream."""
        if self._is_eof:
            return
        if self._sender.is_waiting():
            self._sender.answer()
        if self._start:
            rest = self._end - self._start
            self._buffer[:rest] = self.wire
            self._start, self._end = 0, rest
        size = self._socket.recv_into(self._buffer[self._end :])
        self._end += size
        if not size:
            self._is_eof = True
            with self._sender.lock if self.is_early else nullcontext():
                self._stream.input_eof()

    def look(self) -> None:
        """For the writer: decrypt what has come, without waiting, unless a reader is there or has plaintext to read."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            if not self.is_early and not self._plaintexts and self.ending is None and is_ready(self._socket, select.POLLIN):
                self.receive()
                self.open_records()
        except OSError:
            pass  # the reader will be told
        finally:
            self.lock.release()
