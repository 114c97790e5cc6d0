"""Trust anchors and revocation lists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from . import _native
from ._checks import failure, made

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_WAY_OUT = "give trust=TrustStore(...), or let SSL_CERT_FILE name a bundle in PEM"


class TrustStore:
    """Certificates that are trusted to issue others, for any number of configs. Immutable and safe to share.

    Each of `pems` is a bundle of certificates in PEM, each of `der` holds certificates in DER, one behind the other.
    With `system` the anchors of the system are added. `len()` says how many there are, each counted once.

    Each of `crls` holds certificate revocation lists (RFC 5280, 5): PEM, or DER. With one, every certificate of a path
    but its anchor must be covered by a valid list of its issuer, or the chain is refused with `ERR_CERT_CRL`. For new
    lists make a new store, and a config by `Config.replace`.

    With `partial_chain` a chain may end at any of the certificates, self-signed or not.

    Raises `ConfigError` (a `ValueError`): `ERR_PARSE` and `ERR_NO_CERTIFICATE`, which say what and where;
    `ERR_LIST_TOO_LONG`: more than 32,767 anchors. With `system` also as `system()`. `TypeError` or `BufferError` for a
    buffer that is not C-contiguous.
    """

    __slots__ = ("_handle",)

    def __init__(
        self,
        *pems: ReadableBuffer,
        der: Iterable[ReadableBuffer] = (),
        crls: Iterable[ReadableBuffer] = (),
        system: bool = False,
        partial_chain: bool = False,
    ) -> None:
        if any(isinstance(value, (str, bytes, bytearray, memoryview)) for value in (der, crls)):
            raise TypeError("der and crls are lists of buffers")
        self._handle = made(_native.sst_trust_new())
        for pem in pems:
            self._check(_native.sst_trust_load_pem(self._handle, pem))
        for certificates in der:
            self._check(_native.sst_trust_load_der(self._handle, certificates))
        for crl in crls:
            self._check(_native.sst_trust_load_crl(self._handle, crl))
        if system:
            self._check(_native.sst_trust_load_system(self._handle), _WAY_OUT)
        if partial_chain:
            self._check(_native.sst_trust_set_partial_chain(self._handle, 1))

    @classmethod
    def from_files(
        cls,
        *paths: str | PathLike[str],
        der: Iterable[str | PathLike[str]] = (),
        crls: Iterable[str | PathLike[str]] = (),
        system: bool = False,
        partial_chain: bool = False,
    ) -> TrustStore:
        """As `TrustStore(...)`, with paths in the places of buffers. Raises `OSError` besides."""
        if isinstance(der, (str, PathLike)) or isinstance(crls, (str, PathLike)):
            raise TypeError("der and crls are lists of paths")
        return cls(
            *(Path(path).read_bytes() for path in paths),
            der=[Path(path).read_bytes() for path in der],
            crls=[Path(path).read_bytes() for path in crls],
            system=system,
            partial_chain=partial_chain,
        )

    @classmethod
    def system(cls) -> TrustStore:
        """The trust anchors of the system: one store for the whole process, which the first call reads.

        A client whose config has no trust uses it. Where it lies: the usual places of the distributions, or what
        SSL_CERT_FILE (a bundle) and SSL_CERT_DIR (folders) name. After a failure the next call tries again.

        Raises `SystemCallError`: none could be read, and `errno` says why; `ConfigError` (`ERR_NO_CERTIFICATE`): what
        was read holds none. The message says what to give instead.
        """
        global _system
        with _loading:
            if _system is None:
                _system = TrustStore(system=True)
            return _system

    def __len__(self) -> int:
        return _native.sst_trust_num_anchors(self._handle)

    def _check(self, status: int, way_out: str = "") -> None:
        if status < 0:
            raise failure(status, self._handle, _native.sst_trust_last_error, way_out=way_out)


_loading = Lock()
_system: TrustStore | None = None


def _forked() -> None:
    """In a child no thread holds the lock, whoever held it in the parent."""
    global _loading
    _loading = Lock()


os.register_at_fork(after_in_child=_forked)
