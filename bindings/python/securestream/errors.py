"""The exceptions. All are `SecureStreamError`, and each is also the builtin one that its users expect:

    SecureStreamError
      ArgumentError (ValueError)             a value that cannot be
      ConfigError (ValueError)               a certificate, key or setting that cannot be used
      StateError (RuntimeError)              not now
        ClosedError, FrozenError, BusyError, ForkedError
      UnsupportedError (NotImplementedError)
      OutOfMemoryError (MemoryError)
      SystemCallError (OSError)              with errno
      InternalError (RuntimeError)           a fault of the library
      ProtocolError (ConnectionError)        the connection cannot go on
        CertificateError                     the peer is not who it should be
        AlertError                           the peer refused with an alert
        HandshakeEOFError (EOFError)         the transport ended inside the handshake
        TruncatedError (EOFError)            the transport ended without close_notify

What the socket itself raises (`TimeoutError`, `BlockingIOError`, `ConnectionResetError`) passes through unchanged.
"""

from __future__ import annotations

from typing import NamedTuple

from . import _native
from .constants import Status


class Record(NamedTuple):
    """The record of a failure, as the library keeps it. An alert of -1 is none."""

    code: int
    alert_sent: int
    alert_received: int
    reasons: int
    detail: int
    message: str


class SecureStreamError(Exception):
    """The root of what this package raises.

    `progress` is set where a call had done something before it failed: `progress.produced` bytes of its output are
    valid, for example the alert that tells the peer why. Where the call returns bytes, they are in `output`.

    A traceback shows `hint`, what to do about it, behind the message.
    """

    def __init__(self, record: Record, progress: _native.Progress | None = None, output: bytes = b"") -> None:
        super().__init__(record.message)
        self.record = record
        self.progress = progress
        self.output = output
        if self.hint:
            self.add_note(f"what to do: {self.hint}")

    def __str__(self) -> str:
        return self.record.message

    def __reduce__(self) -> tuple[type[SecureStreamError], tuple[object, ...]]:
        return type(self), (self.record,)

    @property
    def code(self) -> int:
        """The status: one of `Status`, or -1000 - n for an alert n from the peer."""
        code = self.record.code
        return Status(code) if code in _KNOWN else code

    @property
    def name(self) -> str:
        """The name of the code: "ERR_CERT_EXPIRED"."""
        return _native.sst_status_name(self.record.code)

    @property
    def hint(self) -> str:
        """One line that says what to do, for the person who reads it; "" where there is nothing to do."""
        return _native.sst_status_hint(self.record.code)

    @property
    def alert_sent(self) -> int | None:
        """The alert that goes to the peer for this failure."""
        return self.record.alert_sent if self.record.alert_sent >= 0 else None

    @property
    def alert_received(self) -> int | None:
        """The alert of the peer that ended the stream."""
        return self.record.alert_received if self.record.alert_received >= 0 else None

    @property
    def detail(self) -> int:
        """errno, or what else the system said; 0: nothing."""
        return self.record.detail


class ArgumentError(SecureStreamError, ValueError):
    """A value that cannot be: too large, unknown, overlapping buffers."""


class ConfigError(SecureStreamError, ValueError):
    """A certificate, a key, a name or a setting cannot be used. Says which, and where."""


class StateError(SecureStreamError, RuntimeError):
    """Not in this state, or not in this role. Nothing has changed."""


class ClosedError(StateError):
    """We have closed our side."""


class FrozenError(StateError):
    """The object is in use and cannot be changed any more."""


class BusyError(StateError):
    """Another thread is in a call that this one may not run beside. Nothing has changed."""


class ForkedError(StateError):
    """The stream belongs to the parent process."""


class UnsupportedError(SecureStreamError, NotImplementedError):
    """Not in this version, or not possible with this protocol."""


class OutOfMemoryError(SecureStreamError, MemoryError):
    """An allocation failed."""


class SystemCallError(SecureStreamError, OSError):
    """A call of the system failed."""

    def __init__(self, record: Record, progress: _native.Progress | None = None, output: bytes = b"") -> None:
        super().__init__(record, progress, output)
        self.errno = record.detail or None


class InternalError(SecureStreamError, RuntimeError):
    """A fault of the library: please report it with the message."""


class ProtocolError(SecureStreamError, ConnectionError):
    """The connection cannot go on."""


class AlertError(ProtocolError):
    """The peer ended the connection with an alert (RFC 8446, 6.2): `alert` is its number, `alert_name` its name."""

    @property
    def alert(self) -> int:
        received = self.alert_received
        return received if received is not None else Status.ERR_ALERT_RECEIVED - self.record.code

    @property
    def alert_name(self) -> str:
        return _native.sst_alert_name(self.alert)

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.alert_name in text else f"{text} ({self.alert_name})"


class HandshakeEOFError(ProtocolError, EOFError):
    """The transport, or the peer, ended inside the handshake."""


class TruncatedError(ProtocolError, EOFError):
    """The transport ended without close_notify: what came may not be all."""


class CertificateError(ProtocolError):
    """The peer's certificate was refused. `code` is the first fault in the order chain, time, name, others.

    `ERR_KEY_USAGE` is one too, and has no `reasons`: the certificate is not for this use of its key, whoever issued it
    (RFC 8446, 4.4.2.2).

    `ERR_REJECTED` is one where the answer to `PeerCertificate` was no; its `reasons` are those of the verdict.

    `chain` holds the certificates in DER as the peer sent them, the leaf first, for messages and logs: anybody can send
    them, and nothing in them may be trusted.
    """

    def __init__(
        self,
        record: Record,
        progress: _native.Progress | None = None,
        output: bytes = b"",
        chain: tuple[bytes, ...] = (),
    ) -> None:
        super().__init__(record, progress, output)
        self.chain = chain

    def __reduce__(self) -> tuple[type[SecureStreamError], tuple[object, ...]]:
        return type(self), (self.record, None, b"", self.chain)

    @property
    def reasons(self) -> frozenset[Status]:
        """All faults: who forgives one sees whether there is another."""
        first = Status.ERR_CERT_ISSUER_NOT_FOUND
        codes = (first - bit for bit in range(64) if self.record.reasons >> bit & 1)
        return frozenset(Status(code) for code in codes if code in _KNOWN)


_KNOWN = frozenset(int(status) for status in Status)

_BY_CODE: dict[int, type[SecureStreamError]] = {
    Status.ERR_INVALID_ARGUMENT: ArgumentError,
    Status.ERR_CLOSED: ClosedError,
    Status.ERR_FROZEN: FrozenError,
    Status.ERR_BUSY: BusyError,
    Status.ERR_FORKED: ForkedError,
    Status.ERR_UNSUPPORTED: UnsupportedError,
    Status.ERR_NO_MEMORY: OutOfMemoryError,
    Status.ERR_SYSTEM: SystemCallError,
    Status.ERR_HANDSHAKE_EOF: HandshakeEOFError,
    Status.ERR_TRUNCATED: TruncatedError,
    Status.ERR_KEY_USAGE: CertificateError,
}

# Down to this code, the class of its band. A code that a later library has made falls into its band too.
_BANDS: tuple[tuple[int, type[SecureStreamError]], ...] = (
    (-199, StateError),
    (-299, SystemCallError),
    (-399, ConfigError),
    (-499, ProtocolError),
    (-599, CertificateError),
    (-799, ProtocolError),
    (-999, InternalError),
)


def error_class(code: int) -> type[SecureStreamError]:
    """The exception for a status below 0."""
    known = _BY_CODE.get(code)
    if known is not None:
        return known
    for lowest, band in _BANDS:
        if code >= lowest:
            return band
    return AlertError
