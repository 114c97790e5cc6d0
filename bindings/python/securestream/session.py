"""Sessions: what a client keeps of a connection to make the next one shorter."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from . import _native
from ._checks import check, made, value
from .constants import Fact, Version

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import ReadableBuffer


class Session:
    """One session. Immutable, and safe to share. It holds secrets.

    A client gives it to its next connection to the same name (`connect(..., session=...)`); whether that was resumed is
    told by `is_resumed` then: the server may decline, and that is no error. By default it is used once, so that nobody
    can link connections (RFC 8446, C.4): after a handshake has offered it, the next one is a full one.
    """

    __slots__ = ("_handle", "_is_reusable")

    def __init__(self, data: ReadableBuffer) -> None:
        """From `to_bytes`. They must come from a place that only the owner can write.

        Raises `ConfigError` (`ERR_BAD_SESSION`): damaged, of another version of the library, or no session.
        """
        handle = made(_native.sst_session_new())
        check(_native.sst_session_load(handle, data), handle, _native.sst_session_last_error)
        self._handle = handle
        self._is_reusable = False

    @classmethod
    def _of(cls, handle: _native.SessionHandle | None) -> Self | None:
        if handle is None:
            return None
        session = cls.__new__(cls)
        session._handle = handle
        session._is_reusable = False
        return session

    def to_bytes(self) -> bytes:
        """The session as bytes, to be kept as a secret. That it was used, or may be used again, is in them."""
        return value(_native.sst_session_to_bytes(self._handle))

    def set_reusable(self, on: bool = True) -> None:
        """Let it be used more than once, also after its first use."""
        check(_native.sst_session_set_reusable(self._handle, on), self._handle, _native.sst_session_last_error)
        self._is_reusable = on

    @property
    def version(self) -> Version:
        return Version(self._info[0])

    @property
    def suite(self) -> int:
        """IANA number of the cipher suite."""
        return self._info[1]

    @property
    def created(self) -> int:
        """In seconds since 1970 UTC."""
        return self._info[2]

    @property
    def expires(self) -> int:
        """In seconds since 1970 UTC."""
        return self._info[3]

    @property
    def max_early_data(self) -> int:
        """How many bytes of 0-RTT data it allows; 0: none."""
        return self._info[5]

    @property
    def _info(self) -> tuple[int, int, int, int, int, int]:
        return _native.sst_session_get_info(self._handle)[1]

    def __repr__(self) -> str:
        return f"<securestream.Session {self.version.name}>"


class SessionCache:
    """Sessions by the name of their server, for `Config(session_cache=...)`. Safe from any thread.

    A client whose config has a cache asks for sessions, puts what it gets into it, and takes the newest one of the same
    server out of it to connect. `capacity` counts sessions: the oldest goes. Any object with `get` and `put` does as well.
    """

    def __init__(self, capacity: int = 64) -> None:
        if capacity < 1:
            raise ValueError("capacity is below 1")
        self._capacity = capacity
        self._sessions: list[tuple[str, Session]] = []  # the newest last
        self._lock = Lock()

    def get(self, name: str) -> Session | None:
        """Take out the newest session of a server; one that is reusable stays."""
        with self._lock:
            for at in reversed(range(len(self._sessions))):
                if self._sessions[at][0] == name:
                    session = self._sessions[at][1]
                    if not session._is_reusable:
                        del self._sessions[at]
                    return session
        return None

    def put(self, name: str, session: Session) -> None:
        """Keep `session` for `name`; where there are too many, the oldest goes."""
        with self._lock:
            self._sessions.append((name, session))
            del self._sessions[: -self._capacity]

    def __len__(self) -> int:
        return len(self._sessions)


class Resumable:
    """The part of `Stream` that is about sessions and 0-RTT."""

    __slots__ = ()

    _handle: _native.StreamHandle

    def take_session(self) -> Session | None:
        """The newest session that has come and was not taken yet; None: there is none.

        Only of a config that reports `EventKind.SESSION` or has a `session_cache`. In TLS 1.3 sessions come with what is
        read after the handshake. Any thread, any time.
        """
        return Session._of(_native.sst_stream_take_session(self._handle))

    @property
    def is_resumed(self) -> bool:
        """The handshake has resumed a session."""
        return bool(self._flags & Fact.RESUMED)

    @property
    def early_data_accepted(self) -> bool:
        """0-RTT data was offered and taken: of either side."""
        return bool(self._flags & Fact.EARLY_DATA_ACCEPTED)

    @property
    def early_data_left(self) -> int:
        """How many bytes of 0-RTT data a client may encrypt now, before the handshake has finished.

        What `encrypt` sends then can be replayed by an attacker. `Progress.flags` has `Flag.EARLY_DATA` beside what a
        server reads of it.
        """
        return _native.sst_stream_early_data_left(self._handle)

    @property
    def _flags(self) -> int:
        return _native.sst_stream_get_info(self._handle)[1][5]
