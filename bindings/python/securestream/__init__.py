"""Secure streams: TLS 1.2 and 1.3, over buffers that the caller owns or over sockets.

`connect` and `listen` give a `Connection` over a blocking socket. `Stream` is the same without a socket: bytes in, bytes
out. `Config` holds what many of them share, `Credential` a certificate with its key, `TrustStore` who may issue the
peer's. Everything raised is a `SecureStreamError`, or comes from the socket.
"""

from . import _native
from .config import Config
from .connection import Connection
from .constants import (
    RECORD_MAX,
    ChainDigest,
    ClientCertificate,
    Counter,
    Direction,
    EventKind,
    Fact,
    Flag,
    Profile,
    Role,
    State,
    Status,
    Verify,
    Version,
)
from .credential import Credential
from .errors import (
    AlertError,
    ArgumentError,
    BusyError,
    CertificateError,
    ClosedError,
    ConfigError,
    ForkedError,
    FrozenError,
    HandshakeEOFError,
    InternalError,
    OutOfMemoryError,
    ProtocolError,
    SecureStreamError,
    StateError,
    SystemCallError,
    TruncatedError,
    UnsupportedError,
)
from .facts import Event, Info
from .listener import Listener, connect, listen
from .question import (
    CertificateRequest,
    ClientHello,
    EarlyDataRetry,
    PeerCertificate,
    PrivateKeyOperation,
    Question,
    SessionLookup,
    TicketDecryption,
)
from .session import Session, SessionCache
from .stream import Progress, Stream
from .ticket_keys import TicketKey, TicketKeys
from .trust import TrustStore

__version__: str = _native.sst_version_string()


def live_objects() -> int:
    """How many objects of the library exist in this process."""
    return _native.sst_live_objects()


def allocated_bytes() -> int:
    """How many bytes of heap the library holds now; those of Python are not in it."""
    return _native.sst_allocated_bytes()


__all__ = [
    "AlertError",
    "ArgumentError",
    "BusyError",
    "CertificateError",
    "CertificateRequest",
    "ChainDigest",
    "ClientCertificate",
    "ClientHello",
    "ClosedError",
    "Config",
    "ConfigError",
    "Connection",
    "Counter",
    "Credential",
    "Direction",
    "EarlyDataRetry",
    "Event",
    "EventKind",
    "Fact",
    "Flag",
    "ForkedError",
    "FrozenError",
    "HandshakeEOFError",
    "Info",
    "InternalError",
    "Listener",
    "OutOfMemoryError",
    "PeerCertificate",
    "PrivateKeyOperation",
    "Profile",
    "Progress",
    "ProtocolError",
    "Question",
    "RECORD_MAX",
    "Role",
    "SecureStreamError",
    "Session",
    "SessionCache",
    "SessionLookup",
    "State",
    "StateError",
    "Status",
    "Stream",
    "SystemCallError",
    "TicketDecryption",
    "TicketKey",
    "TicketKeys",
    "TruncatedError",
    "TrustStore",
    "UnsupportedError",
    "Verify",
    "Version",
    "allocated_bytes",
    "connect",
    "listen",
    "live_objects",
]
