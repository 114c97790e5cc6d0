"""One connection as a state machine over buffers: no socket, no thread, no waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._checks import bytes_view, certificates, check, failure, made, refuse, text, value
from .config import Config
from .constants import RECORD_MAX, Counter, Direction, EventKind, Fact, Role, State, Status, Version
from .errors import SecureStreamError
from .facts import Event, Info
from .question import Suspendable
from .session import Resumable, Session

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

Progress = _native.Progress

_FIRST_ROOM = 4 * 1024
_BINDINGS = {
    "tls-exporter": _native.SST_BINDING_TLS_EXPORTER,
    "tls-server-end-point": _native.SST_BINDING_TLS_SERVER_END_POINT,
    "tls-unique": _native.SST_BINDING_TLS_UNIQUE,
}


class Stream(Suspendable, Resumable):
    """One TLS connection, client or server, over buffers that the caller moves.

    The calls that move bytes come in two forms. Those named `..._into` take any C-contiguous buffer as input and any
    writable one as output, and return a `Progress(status, consumed, produced, needed, waiting, flags)` as the header's
    section 10 explains it. The others return new bytes. A buffer that cannot be used raises `TypeError` or `BufferError`,
    and nothing has happened.

    A failed call raises; its exception has the progress. `decrypt` and `decrypt_into` first give out the plaintext that
    came before a failure: the next call raises. Every error that ends the stream is raised again by each later call.

    One thread may send (encrypt, flush, close, abort, key_update) beside one that receives (decrypt, input_eof); more
    wait for their turn. A stream belongs to the process that made it: in a forked child each call raises `ForkedError`.
    The stream keeps its config alive. Nothing is sent when it is dropped.
    """

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        config: Config | None,
        role: Role,
        *,
        server_name: str | bytes | None = None,
        verify_name: str | bytes | None = None,
        verify_time: int | None = None,
        max_fragment: int | None = None,
        leave_partial: bool = False,
        session: Session | None = None,
    ) -> None:
        """Make a stream of `Role.CLIENT` or `Role.SERVER`. A server without a config stops for one: see `question`.

        server_name    the host that a client wants to reach, and that the certificate must have: a DNS name in ASCII,
                       or an IP address
        verify_name    another name that the certificate must have
        verify_time    when certificates are judged, in seconds since 1970 UTC
        max_fragment   the most plaintext in a record that is sent
        leave_partial  decrypt leaves a record that has not come whole in the caller's buffer
        session        what a client resumes, if it fits and the server agrees

        Raises `ConfigError`: the config lacks something for this role, or a name that no host has.
        """
        frozen = None if config is None else config._of_streams(role)
        status, handle = _native.sst_stream_new(frozen, role)
        if handle is None:
            refuse(status) if frozen is None else check(status, frozen, _native.sst_config_last_error)
        self._handle = made(handle)
        self.config = config
        self.role = role
        self._want = Status.OK
        self._chosen = None
        if server_name is not None:
            self._check(_native.sst_stream_set_server_name(handle, server_name))
        if verify_name is not None:
            self._check(_native.sst_stream_set_verify_name(handle, verify_name))
        if verify_time is not None:
            self._check(_native.sst_stream_set_verify_time(handle, verify_time))
        if max_fragment is not None:
            self._check(_native.sst_stream_set_max_fragment(handle, max_fragment))
        if leave_partial:
            self._check(_native.sst_stream_set_options(handle, _native.SST_OPTION_LEAVE_PARTIAL))
        if session is not None:
            self._check(_native.sst_stream_set_session(handle, session._handle))

    # Moving bytes between buffers

    def handshake_into(self, data: ReadableBuffer, out: WriteableBuffer) -> Progress:
        """Take wire bytes of the handshake, write wire bytes to send. OK: finished. NEED_INPUT: bring the answer.
        WANT_x: there is a `question`.

        It takes no byte behind the handshake. Raises `CertificateError`, `AlertError`, `HandshakeEOFError`,
        `ProtocolError`, and `ConfigError` for a client that has no name to expect; `error.progress.produced` bytes of
        `out` are then to be sent: they tell the peer why.
        """
        progress = _native.sst_stream_handshake(self._handle, data, out)
        self._want = progress.status
        return self._good(progress)

    def encrypt_into(self, data: ReadableBuffer, out: WriteableBuffer) -> Progress:
        """Seal plaintext into records, behind what waits. OK: all of it. NEED_OUTPUT: `needed` bytes of room go on."""
        return self._good(_native.sst_stream_encrypt(self._handle, data, out))

    def encrypt2_into(self, head: ReadableBuffer, body: ReadableBuffer, out: WriteableBuffer) -> Progress:
        """As `encrypt_into`, for two pieces that share records."""
        return self._good(_native.sst_stream_encrypt2(self._handle, head, body, out))

    def decrypt_into(self, data: ReadableBuffer, out: WriteableBuffer) -> Progress:
        """Open records. NEED_INPUT: all is processed. NEED_OUTPUT: more waits. CLOSED: the end of the data.

        A status below 0 beside plaintext is raised by the next call. Raises `TruncatedError`, `AlertError`,
        `ProtocolError`; the alert for the peer waits for `flush`.
        """
        progress = _native.sst_stream_decrypt(self._handle, data, out)
        return progress if progress.produced else self._good(progress)

    def decrypt_in_place(
        self, buffer: WriteableBuffer, max_ranges: int = 64
    ) -> tuple[Progress, tuple[tuple[int, int], ...]]:
        """Open the whole records in `buffer`; return where their plaintexts lie, as (offset, length). No byte is copied.

        A record that has not come whole stays. A failure is raised as by `decrypt_into`.
        """
        progress, ranges = _native.sst_stream_decrypt_in_place(self._handle, buffer, max_ranges)
        if not ranges:
            self._good(progress)
        return progress, ranges

    def flush_into(self, out: WriteableBuffer) -> Progress:
        """Write what waits to be sent: an alert, an answer to KeyUpdate, the rest of a flight."""
        return self._good(_native.sst_stream_flush(self._handle, out))

    def close_into(self, out: WriteableBuffer) -> Progress:
        """Say that we have sent all (close_notify, RFC 8446, 6.1). Receiving goes on."""
        return self._good(_native.sst_stream_close(self._handle, out))

    # The same, giving bytes

    def handshake(self, data: ReadableBuffer = b"") -> tuple[bytes, int]:
        """As `handshake_into`: return the bytes to send, and how many of `data` were taken. Then look at `question`.

        What it raises has the bytes to send in `error.output`.
        """
        rest = bytes_view(data)
        room = bytearray(_FIRST_ROOM)
        output = b""
        while True:
            progress = _native.sst_stream_handshake(self._handle, rest, room)
            output += room[: progress.produced]
            rest = rest[progress.consumed :]
            if progress.status != Status.NEED_OUTPUT:
                break
            room = bytearray(progress.needed)
        self._want = progress.status
        if progress.status < 0:
            raise failure(progress.status, self._handle, _native.sst_stream_last_error, progress, output)
        return output, memoryview(data).nbytes - len(rest)

    def encrypt(self, data: ReadableBuffer) -> bytes:
        """Seal all of `data`."""
        room = bytearray(self.encrypted_size(memoryview(data).nbytes))
        return bytes(memoryview(room)[: self.encrypt_into(data, room).produced])

    def decrypt(self, data: ReadableBuffer) -> tuple[bytes, int]:
        """Open all records in `data`: return the plaintext, and how many bytes were taken.

        Fewer than all are taken at close_notify (the rest belongs to the next protocol) and before a failure.
        """
        room = bytearray(memoryview(data).nbytes + _native.sst_stream_plaintext_size(self._handle) + RECORD_MAX)
        progress = self.decrypt_into(data, room)
        return bytes(memoryview(room)[: progress.produced]), progress.consumed

    def flush(self) -> bytes:
        """As `flush_into`: return the bytes to send."""
        room = bytearray(_native.sst_stream_output_size(self._handle))
        return bytes(room[: self.flush_into(room).produced])

    def close(self) -> bytes:
        """As `close_into`: return the bytes to send."""
        room = bytearray(_native.sst_stream_output_size(self._handle) + 64)
        progress = self.close_into(room)
        output = bytes(room[: progress.produced])
        return output + self.flush() if progress.status == Status.NEED_OUTPUT else output

    def encrypted_size(self, size: int) -> int:
        """Room that is always enough to encrypt `size` bytes in one call, what waits now included."""
        return _native.sst_stream_encrypted_size(self._handle, size)

    # Ends and keys

    def input_eof(self) -> None:
        """Say that the transport has ended: what has not come will not come."""
        self._check(_native.sst_stream_input_eof(self._handle))

    def abort(self, alert: int) -> None:
        """End the stream with a fatal alert, 1 to 255, which waits for `flush`. Later calls raise `ProtocolError`.

        Raises `ClosedError`: nothing may follow close_notify; `ArgumentError`; the stream's failure.
        """
        self._check(_native.sst_stream_abort(self._handle, alert))

    def key_update(self, *, request_peer: bool = False) -> None:
        """Change our sending keys, and ask the peer for the same (RFC 8446, 4.6.3). It goes out with what is sent next.

        Raises `UnsupportedError` with TLS 1.2, `StateError`, `ClosedError`, the stream's failure.
        """
        self._check(_native.sst_stream_key_update(self._handle, request_peer))

    # Facts

    @property
    def state(self) -> State:
        return State(_native.sst_stream_state(self._handle))

    @property
    def is_open(self) -> bool:
        """The handshake has finished, and the stream has not failed."""
        return self.state & (State.OPEN | State.FAILED) == State.OPEN

    @property
    def info(self) -> Info:
        return Info(*_native.sst_stream_get_info(self._handle)[1])

    @property
    def version(self) -> Version | None:
        version = self.info.version
        return Version(version) if version else None

    @property
    def facts(self) -> Fact:
        return Fact(self.info.flags)

    @property
    def is_verified(self) -> bool:
        """The peer's certificate was verified: the chain, and the name unless that was given up."""
        return Fact.VERIFIED in self.facts

    @property
    def alpn(self) -> str | None:
        """The protocol that ALPN chose."""
        return text(_native.sst_stream_alpn(self._handle))

    @property
    def server_name(self) -> str | None:
        """The DNS name that the client sent: our own, or the peer's."""
        return text(_native.sst_stream_server_name(self._handle))

    @property
    def peer_certificates(self) -> tuple[bytes, ...]:
        """What the peer sent, in DER, its leaf first; empty until the handshake has succeeded, or asks whether it is good.

        What was refused is in `CertificateError.chain`.
        """
        return certificates(_native.sst_stream_peer_certificate, self._handle)

    @property
    def verified_chain(self) -> tuple[bytes, ...]:
        """The path that verification built from the peer's leaf to a trust anchor, in DER; empty: nothing was verified."""
        return certificates(_native.sst_stream_verified_certificate, self._handle)

    @property
    def local_certificates(self) -> tuple[bytes, ...]:
        """What we sent, in DER, our leaf first."""
        return certificates(_native.sst_stream_local_certificate, self._handle)

    @property
    def ocsp_response(self) -> bytes | None:
        """The OCSP response (DER) that the server stapled, unchecked; None: it stapled none."""
        return value(_native.sst_stream_ocsp_response(self._handle)) or None

    @property
    def scts(self) -> bytes | None:
        """The SignedCertificateTimestampList (RFC 6962, 3.3) that the server stapled, unchecked; None: it stapled none."""
        return value(_native.sst_stream_scts(self._handle)) or None

    def export_key(self, label: str | ReadableBuffer, context: ReadableBuffer | None, length: int) -> bytes:
        """Keying material that both ends have and nobody else (RFC 8446, 7.5; RFC 5705).

        `label` has 1 to 249 bytes, `context` at most 65,535, `length` is at most 8,160. None and an empty context are
        the same in TLS 1.3, and are not in TLS 1.2.

        Raises `StateError` before the handshake has finished; `UnsupportedError` without extended master secret;
        `ArgumentError`, also for the labels that TLS 1.2 uses itself.
        """
        key = bytearray(length)
        self._check(_native.sst_stream_export_key(self._handle, label, context, key))
        return bytes(key)

    def channel_binding(self, kind: str = "tls-exporter") -> bytes:
        """What ties an authentication to this connection: `kind` is "tls-exporter" (RFC 9266), "tls-server-end-point"
        or, with TLS 1.2 alone, "tls-unique" (RFC 5929).

        Raises `StateError` before the handshake has finished; `UnsupportedError` where there is none; `ValueError` for
        another kind.
        """
        if kind not in _BINDINGS:
            raise ValueError(f"{kind!r} is no channel binding: {', '.join(_BINDINGS)}")
        return value(_native.sst_stream_channel_binding(self._handle, _BINDINGS[kind]))

    def traffic_secret(self, direction: Direction) -> bytes:
        """The TLS 1.3 secret that protects a direction now, for a record layer outside. `UnsupportedError` in TLS 1.2."""
        return value(_native.sst_stream_traffic_secret(self._handle, direction))

    @property
    def description(self) -> str:
        """One line for logs."""
        return text(_native.sst_stream_describe(self._handle)) or ""

    @property
    def output_size(self) -> int:
        """Wire bytes that wait to be sent."""
        return _native.sst_stream_output_size(self._handle)

    @property
    def plaintext_size(self) -> int:
        """Bytes of plaintext that are kept for the next decrypt."""
        return _native.sst_stream_plaintext_size(self._handle)

    def counter(self, which: Counter) -> int:
        return _native.sst_stream_counter(self._handle, which)

    @property
    def last_error(self) -> SecureStreamError | None:
        """What ended the stream, or its receiving side; None: nothing has."""
        code = _native.sst_stream_last_error(self._handle)[1][0]
        return failure(code, self._handle, _native.sst_stream_last_error) if code < 0 else None

    def next_event(self) -> Event | None:
        """Take the oldest event of the kinds that the config reports; None: none waits."""
        room = bytearray(256)
        while True:
            status, (kind, number, lost, length) = _native.sst_stream_next_event(self._handle, room)
            if status == Status.NONE:
                return None
            if status < 0:
                refuse(status)
            if status == Status.OK:
                return Event(_kind(kind), number, lost, bytes(room[:length]))
            room = bytearray(length)

    def __repr__(self) -> str:
        return f"<securestream.Stream {self.description}>"

    def _good(self, progress: Progress) -> Progress:
        if progress.status < 0:
            raise failure(progress.status, self._handle, _native.sst_stream_last_error, progress)
        return progress

    def _check(self, status: int) -> None:
        check(status, self._handle, _native.sst_stream_last_error)


def _kind(kind: int) -> int:
    try:
        return EventKind(kind)
    except ValueError:
        return kind
