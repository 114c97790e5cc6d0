"""The handshake of a connection."""

from __future__ import annotations

import select
import socket
import time
from threading import Lock
from typing import TYPE_CHECKING

from . import _native
from ._checks import bytes_view
from ._receiver import Receiver
from ._sender import Sender
from .constants import Flag, Role, Status
from .errors import SecureStreamError
from .stream import Stream

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LINGER_S = 1.0  # for the peer to read our alert


class Shaking:
    """The part of `Connection` that is about its handshake, and about what goes out and comes in before its end."""

    _socket: socket.socket
    _stream: Stream
    _sender: Sender
    _receiver: Receiver
    _shaking: Lock
    _is_shaken: bool
    _early: memoryview | None = None  # what is still to be sent; None: not begun, or over
    _early_sent: int = 0

    def _transmit(self, *, flush: bool = False) -> None:
        raise NotImplementedError

    def _failure(self, status: int) -> SecureStreamError:
        raise NotImplementedError

    @property
    def early_data_accepted(self) -> int:
        """How many bytes of the `early_data` of `handshake` or `connect` the server has taken: all that was sent, or 0.

        Nothing is sent twice: what is behind them is the caller's to send, `sendall(data[accepted:])`.
        """
        return self._early_sent if self._is_shaken and self._stream.early_data_accepted else 0

    @property
    def is_early(self) -> bool:
        """A server: what the last `recv` gave came as 0-RTT data. It may be an attacker's copy of what a client has said
        before: only what may be done twice should be done for it.
        """
        return self._receiver.gave_early

    def handshake(self, early_data: ReadableBuffer = b"") -> None:
        """Perform the handshake, unless it is done.

        Of a client's `early_data` goes out with the first flight what the session allows. `early_data_accepted` bytes of
        it have reached the server then; the caller sends the rest.

        Raises `CertificateError`, `AlertError`, `HandshakeEOFError`, `ProtocolError`, `ConfigError`; the peer is told,
        and the connection can then only be closed.
        """
        if self._is_shaken:
            return
        with self._shaking:  # and not in the lock of a reader, which another thread may hold for long when it is done
            if not self._is_shaken:
                with self._receiver.lock, self._sender.lock:
                    if self._early is None:
                        self._early = bytes_view(early_data)
                    self._shake()

    def _shake(self) -> None:
        while not self._is_shaken:
            self._transmit()
            status = self._step()
            if status < 0:
                self._tell_why()
                raise self._failure(status)
            self._transmit()
            if status == Status.OK:
                self._early = None
                self._receiver.keep_sessions()
                self._is_shaken = True
            elif status == Status.NEED_INPUT:
                self._send_early()
                self._receiver.receive()
            elif status != Status.NEED_OUTPUT:
                self._answer()

    def _step(self) -> int:
        progress = _native.sst_stream_handshake(self._stream._handle, self._receiver.wire, self._sender.room)
        self._stream._want = progress.status
        self._receiver.consume(progress.consumed)
        self._sender.put(progress.produced)
        if progress.status == Status.OK and self._stream.role == Role.SERVER:
            self._receiver.is_early = bool(progress.flags & Flag.EARLY_DATA)
        return progress.status

    def _send_early(self) -> None:
        while self._early and (size := min(len(self._early), self._stream.early_data_left)):
            progress = _native.sst_stream_encrypt(self._stream._handle, self._early[:size], self._sender.room)
            self._sender.put(progress.produced)
            if progress.status < 0:
                raise self._failure(progress.status)
            self._early = self._early[progress.consumed :]
            self._early_sent += progress.consumed
            self._transmit()

    def _answer(self) -> None:
        try:
            self._stream.answer()
        except BaseException:  # the answer was no
            self._step()
            self._tell_why()
            raise

    def _tell_why(self) -> None:
        """Send the alert. A socket that is closed over unread bytes resets the connection, and the peer reads nothing."""
        deadline = time.monotonic() + _LINGER_S
        try:
            self._sender.transmit(wait=False, flush=True)
            if self._stream.last_error and self._stream.last_error.alert_sent is not None:
                self._socket.shutdown(socket.SHUT_WR)
                if self._socket.gettimeout() != 0:
                    self._drain(deadline)
        except OSError:
            pass

    def _drain(self, deadline: float) -> None:
        """Read and forget, up to the end of the transport or to a time."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        unwanted = bytearray(65536)
        while poll.poll(max(0, 1000 * (deadline - time.monotonic()))):
            if not self._socket.recv_into(unwanted) or time.monotonic() > deadline:
                return
