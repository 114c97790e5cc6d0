"""The sending side of a connection: wire bytes on their way to the socket."""

from __future__ import annotations

import select
import socket
from threading import Lock

from .constants import RECORD_MAX
from .stream import Stream


def is_ready(sock: socket.socket, event: int) -> bool:
    """Whether the socket would not wait now."""
    if sock.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(sock, event)
    return bool(poll.poll(0))


class Sender:
    """Wire bytes that the socket has not taken yet. All but `answer` and `lock` is for the holder of `lock`.

    What a call of the stream has written to `room` is announced by `put`, and goes out before anything else is written
    there: a call that was cut short by a timeout loses nothing.
    """

    def __init__(self, sock: socket.socket, stream: Stream) -> None:
        self.lock = Lock()
        self.room = memoryview(bytearray(4 * RECORD_MAX))
        self._socket = sock
        self._stream = stream
        self._start = self._end = 0

    def put(self, produced: int) -> None:
        self._start, self._end = 0, produced

    def is_waiting(self) -> bool:
        """Something waits for the socket, here or in the stream. For any thread."""
        return bool(self._end or self._stream.output_size)

    def transmit(self, *, wait: bool = True, flush: bool = False) -> None:
        """Send what is in the room; with `flush` what waits in the stream too; without `wait` what the socket takes now."""
        while True:
            if self._start == self._end:
                self.put(self._stream.flush_into(self.room).produced if flush else 0)
                if not self._end:
                    return
            if not wait and not is_ready(self._socket, select.POLLOUT):
                return
            part = self.room[self._start : self._end]
            self._start += self._socket.send(part, 0 if wait else socket.MSG_DONTWAIT)

    def answer(self) -> None:
        """For the reader: send what reading has made, if no writer is there and the socket takes it.

        A writer that is there looks again when it has unlocked. What fails here is told by the next call that waits.
        """
        if self.lock.acquire(blocking=False):
            try:
                self.transmit(wait=False, flush=True)
            except OSError:
                pass
            finally:
                self.lock.release()
