"""Trust anchors."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from . import _native
from ._checks import check, made

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class TrustStore:
    """Certificates that are trusted to issue others, parsed once for any number of configs. Immutable and safe to share.

    Each of `pems` is a bundle of certificates in PEM. With `partial_chain` a chain may end at any of them, self-signed
    or not. `len()` says how many there are.

    Raises `ConfigError`: a bundle does not parse or holds no certificate.
    """

    __slots__ = ("_handle",)

    def __init__(self, *pems: ReadableBuffer, partial_chain: bool = False) -> None:
        self._handle = made(_native.sst_trust_new())
        for pem in pems:
            self._check(_native.sst_trust_load_pem(self._handle, pem))
        if partial_chain:
            self._check(_native.sst_trust_set_partial_chain(self._handle, 1))

    @classmethod
    def from_files(cls, *paths: str | PathLike[str], partial_chain: bool = False) -> TrustStore:
        """Load bundles from files. Raises `OSError` besides."""
        return cls(*(Path(path).read_bytes() for path in paths), partial_chain=partial_chain)

    @classmethod
    def system(cls) -> TrustStore:
        """The trust anchors of the system.

        Raises `UnsupportedError` in this version, `SystemCallError` where none could be read.
        """
        store = cls()
        store._check(_native.sst_trust_load_system(store._handle))
        return store

    def __len__(self) -> int:
        return _native.sst_trust_num_anchors(self._handle)

    def _check(self, status: int) -> None:
        check(status, self._handle, _native.sst_trust_last_error)
