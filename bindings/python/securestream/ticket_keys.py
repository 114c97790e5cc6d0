"""The keys that servers seal their session tickets with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from . import _native
from ._checks import made, plain_record
from .constants import Status
from .errors import ConfigError, error_class

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class TicketKey(NamedTuple):
    """One key of a ring. `name` has 16 bytes, `secret` 64; it is good until `expires`, in seconds since 1970; 0: for ever."""

    name: bytes
    secret: bytes
    expires: int = 0


class TicketKeys:
    """A ring of keys: the newest seals, all open. Configs that share a ring resume one another's sessions.

    Without `keys` it makes and rotates its own. Servers that share sessions beyond one process get their keys from the
    caller, best changed daily: whoever has a key reads the tickets that it sealed. May be changed at any time, from any
    thread; that holds from the next handshake on.

    Raises `ConfigError` (`ERR_BAD_TICKET_KEYS`): more than 256 keys, a name twice, or a part of another length.
    """

    __slots__ = ("_handle",)

    def __init__(self, keys: Iterable[TicketKey | tuple[ReadableBuffer, ReadableBuffer, int]] | None = None) -> None:
        self._handle = made(_native.sst_ticket_keys_new())
        if keys is not None:
            self.replace(keys)

    def replace(self, keys: Iterable[TicketKey | tuple[ReadableBuffer, ReadableBuffer, int]]) -> None:
        """These keys alone, the one that seals first; none: no ticket is made or opened. The ring makes none any more."""
        ring = bytearray()
        for name, secret, expires in keys:
            entry = bytes(name) + bytes(secret) + int(expires).to_bytes(8, "big")
            if len(bytes(name)) != 16 or len(entry) != 88:
                message = "the name of a ticket key has 16 bytes, its secret 64"
                raise ConfigError(plain_record(Status.ERR_BAD_TICKET_KEYS)._replace(message=message))
            ring += entry
        self._good(_native.sst_ticket_keys_replace(self._handle, ring))

    def rotate(self) -> None:
        """A new key seals from now on; the older ones go on opening until they expire. The ring makes its own keys again."""
        self._good(_native.sst_ticket_keys_rotate(self._handle))

    def _good(self, status: int) -> None:
        if status < 0:
            raise error_class(status)(plain_record(status))
