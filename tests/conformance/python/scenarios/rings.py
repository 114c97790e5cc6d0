"""The rings of ticket keys of a case, by their names, and the keys that scenarios name (README.md, section 3)."""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import securestream as ss

from .failure import require, same

_NAME, _SECRET, _SALT = 16, 64, 32


class Rings:
    """A ring is made when it is first named."""

    def __init__(self) -> None:
        self._rings: dict[bytes, ss.TicketKeys] = {}

    def of(self, name: bytes) -> ss.TicketKeys:
        if name not in self._rings:
            self._rings[name] = ss.TicketKeys()
        return self._rings[name]


def _of_name(name: bytes) -> ss.TicketKey:
    require(0 < len(name) <= _NAME, f"a key of {len(name)} bytes")
    return ss.TicketKey(name.ljust(_NAME, b"\0"), (name * _SECRET)[:_SECRET])


def of_names(names: list[bytes]) -> list[ss.TicketKey]:
    return [_of_name(name) for name in names]


def open_ticket(key_name: bytes, ticket: bytes) -> bytes:
    """As section 7 of the header says."""
    key = _of_name(key_name)
    same("the key of the ticket", ticket[:_NAME], key.name)
    salt = ticket[_NAME : _NAME + _SALT]
    secret = HKDF(hashes.SHA256(), 32, salt, b"securestream ticket").derive(key.secret)
    return AESGCM(secret).decrypt(bytes(12), ticket[_NAME + _SALT :], None)
