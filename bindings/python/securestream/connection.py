"""A secure stream over a connected socket."""

from __future__ import annotations

import os
import select
import socket
import time
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _native
from ._checks import bytes_view, failure, plain_record
from ._receiver import Receiver
from ._sender import Sender, is_ready
from ._shaking import Shaking
from .config import Config
from .constants import Counter, Role, Status, Version
from .errors import AlertError, ClosedError, SecureStreamError, StateError
from .stream import Stream

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import ReadableBuffer, WriteableBuffer

    from .session import Session

_CLOSE_S = 5.0  # for a peer that does not read, to take our close_notify
_INTERNAL_ERROR = 80  # an alert


class Connection(Shaking):
    """TLS over a connected socket, which belongs to the connection from then on.

    The calls wait as the socket does: `TimeoutError` when one wait has taken its timeout, `BlockingIOError` without
    waiting. After these the call may be repeated. The handshake is done by the first call that needs it, or by
    `handshake`. What the socket raises (`OSError`) passes through; all else is a `SecureStreamError`.

    One thread may read while another writes; more take turns. `close` may come from any thread.

    A client of TLS 1.3 does not learn from the handshake that the server took its certificate. A client that only
    writes is told by the first `send` after the refusal is readable, at the latest by `close` (RFC 8446, 4.4.2.4).

    In a forked child a connection can only be closed: that closes its descriptor, and sends nothing.
    """

    def __init__(self, sock: socket.socket, stream: Stream, *, received: ReadableBuffer = b"") -> None:
        """Take over a connected socket. `received` is what was read from it already: wire bytes of the peer."""
        self._socket = sock
        self._stream = stream
        self._sender = Sender(sock, stream)
        self._receiver = Receiver(sock, stream, self._sender, bytes_view(received))
        self._owner = os.getpid()
        self._shaking = Lock()
        self._is_shaken = self._is_closed = self._is_told = False
        # A flight goes out as one write; it must not wait for the acknowledgement of the flight before.
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @classmethod
    def client(
        cls, sock: socket.socket, config: Config, server_name: str | bytes | None = None, **options: Any
    ) -> Self:
        """A client over a connected socket. `options` are those of `Stream`.

        Without a `session` among them it is the newest one of this server in the config's `session_cache`.
        """
        cache = config._settings.get("session_cache")
        if cache is None or server_name is None:
            return cls(sock, Stream(config, Role.CLIENT, server_name=server_name, **options))
        name = server_name if isinstance(server_name, str) else server_name.decode("latin-1")
        if options.get("session") is None:
            options["session"] = cache.get(name)
        connection = cls(sock, Stream(config, Role.CLIENT, server_name=server_name, **options))
        connection._receiver.keep = lambda session: cache.put(name, session)
        return connection

    @classmethod
    def server(cls, sock: socket.socket, config: Config, **options: Any) -> Self:
        """A server over a connected socket. `options` are those of `Stream`."""
        return cls(sock, Stream(config, Role.SERVER, **options))

    @property
    def stream(self) -> Stream:
        """For its facts: version, alpn, counters, events."""
        return self._stream

    def take_session(self) -> Session | None:
        """As `Stream.take_session`. What a `session_cache` keeps is not there any more."""
        return self._stream.take_session()

    @property
    def is_resumed(self) -> bool:
        """As `Stream.is_resumed`."""
        return self._stream.is_resumed

    @property
    def peer_certificates(self) -> tuple[bytes, ...]:
        """As `Stream.peer_certificates`."""
        return self._stream.peer_certificates

    @property
    def verified_chain(self) -> tuple[bytes, ...]:
        """As `Stream.verified_chain`."""
        return self._stream.verified_chain

    # Receiving

    def recv(self, size: int, /) -> bytes:
        """Read up to `size` decrypted bytes; b"" at the peer's clean close.

        Raises `TruncatedError` (an `EOFError`) if the transport ended without close_notify, `AlertError`,
        `ProtocolError`; all data that came before is given out first.
        """
        if size < 0:
            raise ValueError("size is below 0")
        if size == 0:
            return b""
        self.handshake()
        with self._receiver.lock:
            self._fill()
            return b"".join(self._receiver.take(size))

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, /) -> int:
        """Read decrypted bytes into `buffer`; return how many (0 at the peer's clean close).

        `buffer` is any writable C-contiguous buffer, else `TypeError` or `BufferError`, and nothing was taken. Raises as
        `recv`.
        """
        target = bytes_view(buffer)
        if target.readonly and len(target):
            raise TypeError("the buffer is read-only")
        if nbytes is not None:
            if nbytes < 0:
                raise ValueError("nbytes is below 0")
            target = target[:nbytes]
        if not len(target):
            return 0
        self.handshake()
        with self._receiver.lock:
            self._fill()
            size = 0
            for piece in self._receiver.take(len(target)):
                target[size : size + len(piece)] = piece
                size += len(piece)
            return size

    def pending(self) -> int:
        """How many bytes `recv` has without looking at the socket: a caller of `select` asks here first."""
        return self._receiver.size

    def _fill(self) -> None:
        """Wait until there is plaintext, or the clean end; raise for another one."""
        while not self._receiver.size:
            ending = self._receiver.ending
            if ending == Status.CLOSED:
                return
            if self._is_closed:
                raise ClosedError(plain_record(Status.ERR_CLOSED))
            if ending is not None:
                raise self._failure(ending)
            if not self._receiver.open_records():
                self._receiver.receive()

    # Sending

    def send(self, data: ReadableBuffer, /) -> int:
        """Encrypt and send some of `data`; return how many bytes were taken, at least 1 if there is one.

        What the socket does not take in time is kept, and goes out first with the next call. Raises `ClosedError` after
        `close_write`, `AlertError`, `ProtocolError`, and what the socket raises: then nothing was taken.
        """
        view = bytes_view(data)
        if not len(view):
            return 0
        self.handshake()
        with self._sender.lock:
            size = self._encrypt(view)
            try:
                self._transmit()
            except (TimeoutError, BlockingIOError):
                pass
        self._look_again()
        return size

    def sendall(self, data: ReadableBuffer, /) -> None:
        """Encrypt and send all of `data`. Raises as `send`; how much was sent is then not known."""
        view = bytes_view(data)
        while len(view):
            self.handshake()
            with self._sender.lock:
                view = view[self._encrypt(view) :]
                self._transmit()
            self._look_again()

    def key_update(self, *, request_peer: bool = False) -> None:
        """Change our sending keys, as `Stream.key_update`, and send the message."""
        self.handshake()
        with self._sender.lock:
            self._transmit()
            self._stream.key_update(request_peer=request_peer)
            self._transmit(flush=True)

    def _encrypt(self, view: memoryview) -> int:
        self._transmit()
        self._look_for_refusal()
        progress = _native.sst_stream_encrypt(self._stream._handle, view, self._sender.room)
        self._sender.put(progress.produced)
        if progress.status < 0:
            raise self._failure(progress.status)
        return progress.consumed

    def _transmit(self, *, flush: bool = False) -> None:
        """When sending fails, what has come tells more than the socket: it may be the alert that says why."""
        try:
            self._sender.transmit(flush=flush)
        except ConnectionError as error:
            self._receiver.look()
            ending = self._receiver.ending
            if ending is not None and ending <= Status.ERR_ALERT_RECEIVED:
                raise self._failure(ending) from error
            raise

    def _look_again(self) -> None:
        """A reader that met this writer at work has left its answer to it."""
        if self._stream.output_size:
            self._sender.answer()

    def _look_for_refusal(self) -> None:
        """A TLS 1.3 server may refuse the client's certificate when the client is writing already."""
        if self._stream.role == Role.CLIENT and not self._stream.counter(Counter.RECORDS_RECEIVED):
            if self._stream.version == Version.TLS1_3:
                self._receiver.look()

    # Ends

    def close_write(self) -> None:
        """Say that all is sent (close_notify), and go on reading. Again: nothing.

        A TLS 1.2 peer may then stop sending (RFC 5246, 7.2.1). Raises as `send`.
        """
        self.handshake()
        with self._sender.lock:
            self._transmit()
            self._sender.put(self._stream.close_into(self._sender.room).produced)
            self._transmit(flush=True)

    def unwrap(self) -> tuple[socket.socket, bytes]:
        """End TLS on both sides and give the socket back, with what came behind the peer's close_notify.

        Raises `StateError` if the peer has sent data that nobody has read, and as `recv`.
        """
        self.close_write()
        with self._receiver.lock:
            self._fill()
            if self._receiver.size:
                record = plain_record(Status.ERR_STATE)
                raise StateError(record._replace(message="the peer has sent data: read to its end before unwrap"))
            self._is_closed = True
            return self._socket, bytes(self._receiver.wire)

    def close(self) -> None:
        """Say that all is sent, if it can be said, and close the socket. Again: nothing.

        Waits for a peer that does not read, but not longer than the socket's timeout and 5 seconds. Raises `AlertError`
        if the peer has refused us and no call has said so.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._say_goodbye()
        except (OSError, SecureStreamError):
            pass  # the peer will see a truncation
        finally:
            self._drop()
        ending = self._receiver.ending
        if ending is not None and ending <= Status.ERR_ALERT_RECEIVED and not self._is_told:
            raise self._failure(ending)

    def _confirm(self) -> None:
        """close_notify goes out behind the confirmation of the handshake."""
        if self._receiver.is_early and self._receiver.lock.acquire(blocking=False):
            try:
                timeout = self._socket.gettimeout()
                self._socket.settimeout(_CLOSE_S if timeout is None else min(timeout, _CLOSE_S))
                self._receiver.confirm(time.monotonic() + _CLOSE_S)
            finally:
                self._receiver.lock.release()

    def _say_goodbye(self) -> None:
        self._confirm()
        if not self._is_shaken or not self._sender.lock.acquire(blocking=False):
            return  # nothing to say, or a writer is still writing
        try:
            self._look_for_refusal()
            timeout = self._socket.gettimeout()
            self._socket.settimeout(_CLOSE_S if timeout is None else min(timeout, _CLOSE_S))
            self._transmit()
            self._sender.put(self._stream.close_into(self._sender.room).produced)
            self._transmit(flush=True)
        finally:
            self._sender.lock.release()

    def abort(self, alert: int = _INTERNAL_ERROR) -> None:
        """End the connection at once with a fatal alert, and close the socket: the peer must not take this for all."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._stream.abort(alert)
            self._sender.answer()
        except SecureStreamError:
            pass
        finally:
            self._drop()

    def _drop(self) -> None:
        """Close the socket, and wake a thread that waits on it. A forked child leaves the transport to its parent."""
        try:
            if os.getpid() == self._owner:
                if is_ready(self._socket, select.POLLIN):
                    self._drain(time.monotonic())
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        finally:
            self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """`close`; after an exception `abort`, for not all was said."""
        if error is None:
            self.close()
        else:
            self.abort()

    def _failure(self, status: int) -> SecureStreamError:
        self._is_told = True
        return failure(status, self._stream._handle, _native.sst_stream_last_error)

    # The socket

    def fileno(self) -> int:
        return self._socket.fileno()

    def settimeout(self, seconds: float | None, /) -> None:
        """As of a socket: None waits, 0 does not."""
        self._socket.settimeout(seconds)

    def gettimeout(self) -> float | None:
        return self._socket.gettimeout()

    def getpeername(self) -> Any:
        return self._socket.getpeername()

    def getsockname(self) -> Any:
        return self._socket.getsockname()

    def __repr__(self) -> str:
        return f"<securestream.Connection {self._stream.description}>"
