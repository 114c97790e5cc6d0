"""Certificate chains with their private keys."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from . import _native
from ._checks import check, made, value

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Credential:
    """A certificate chain and its private key, for any number of configs. Immutable and safe to share.

    `chain` holds the certificates in PEM (RFC 7468), the leaf first, and may hold the key too; `key` holds the key, where
    it stands apart. `password` opens an encrypted key. The bytes are not kept.

    Raises `ConfigError`: not parsed, the key does not belong to the leaf, a kind of key that is not accepted, a password
    that is missing or wrong. The message names the place.
    """

    __slots__ = ("_handle",)

    def __init__(
        self, chain: ReadableBuffer, key: ReadableBuffer | None = None, *, password: str | bytes | None = None
    ) -> None:
        self._handle = made(_native.sst_credential_new())
        for pem in (chain,) if key is None else (chain, key):
            status = _native.sst_credential_load_pem(self._handle, pem, password)
            check(status, self._handle, _native.sst_credential_last_error)

    @classmethod
    def from_files(
        cls,
        chain: str | PathLike[str],
        key: str | PathLike[str] | None = None,
        *,
        password: str | bytes | None = None,
    ) -> Credential:
        """Load from files. Raises `OSError` besides."""
        return cls(Path(chain).read_bytes(), None if key is None else Path(key).read_bytes(), password=password)

    @property
    def chain(self) -> tuple[bytes, ...]:
        """The certificates in DER, as they are sent: the leaf first."""
        chain: list[bytes] = []
        while certificate := value(_native.sst_credential_certificate(self._handle, len(chain))):
            chain.append(certificate)
        return tuple(chain)
