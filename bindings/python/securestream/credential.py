"""Certificate chains with their private keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from . import _native
from ._checks import certificates, check, made

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import ReadableBuffer

    from .question import PrivateKeyOperation

# All that the library knows, best first (section 8 of the header).
_SCHEMES = (0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601)


class Credential:
    """A certificate chain and its private key, for any number of configs. Safe to share once one has it.

    `Credential(...)` takes PEM, `from_der` DER, `from_pkcs12` PKCS#12, from any C-contiguous buffer of bytes; the forms
    with `file` in their name take paths. The certificates may come in any order: they are sent as RFC 8446, 4.4.2
    wants it, without a self-signed root. Nothing of what was given is kept but the parsed objects, and nobody is ever
    asked for a password.

    All raise `ConfigError` (a `ValueError`), whose `name` is

        ERR_PARSE                                  damaged, or a second key: the message names the place
        ERR_NO_CERTIFICATE, ERR_NO_PRIVATE_KEY     there is none
        ERR_KEY_MISMATCH                           the key belongs to none of the certificates
        ERR_UNSUPPORTED_KEY                        not RSA, P-256, P-384, P-521, Ed25519; too small; not for signing
        ERR_PASSWORD_REQUIRED, ERR_BAD_PASSWORD    none was given; it does not open the key
        ERR_UNSUPPORTED_CIPHER                     the key is encrypted in a way that is not accepted
        ERR_LIST_TOO_LONG                          more than 200 certificates

    and `TypeError` or `BufferError` for a buffer that cannot be read. A credential without a key can be looked at; a
    config refuses it.
    """

    __slots__ = ("_handle", "_sign")

    _sign: Callable[[PrivateKeyOperation], ReadableBuffer] | None

    def __init__(
        self, chain: ReadableBuffer, key: ReadableBuffer | None = None, *, password: str | bytes | None = None
    ) -> None:
        """Load PEM (RFC 7468).

        `chain` holds the certificates, and may hold the key too; `key` holds the key, where it stands apart. `password`
        (str is taken as UTF-8) opens an encrypted key, and is ignored where the key is plain.
        """
        self._handle = made(_native.sst_credential_new())
        self._sign = None
        for pem in (chain,) if key is None else (chain, key):
            self._check(_native.sst_credential_load_pem(self._handle, pem, password))

    @classmethod
    def from_files(
        cls,
        chain: str | PathLike[str],
        key: str | PathLike[str] | None = None,
        *,
        password: str | bytes | None = None,
    ) -> Self:
        """As `Credential(...)`, from files. Raises `OSError` besides."""
        return cls(Path(chain).read_bytes(), None if key is None else Path(key).read_bytes(), password=password)

    @classmethod
    def from_der(cls, chain: ReadableBuffer, key: ReadableBuffer = b"") -> Self:
        """Load DER: certificates (RFC 5280), one behind the other, and a key (PKCS#8, PKCS#1 or SEC1, not encrypted).

        An encrypted key is `ERR_PASSWORD_REQUIRED`: PEM and PKCS#12 have a password.
        """
        credential = cls._empty()
        credential._check(_native.sst_credential_load_der(credential._handle, chain, key))
        return credential

    @classmethod
    def from_der_files(cls, chain: str | PathLike[str], key: str | PathLike[str] | None = None) -> Self:
        """As `from_der`, from files. Raises `OSError` besides."""
        return cls.from_der(Path(chain).read_bytes(), b"" if key is None else Path(key).read_bytes())

    @classmethod
    def from_pkcs12(cls, pfx: ReadableBuffer, password: str | bytes | None = None) -> Self:
        """Load PKCS#12 (RFC 7292), of any age. No password and an empty one are the same."""
        credential = cls._empty()
        credential._check(_native.sst_credential_load_pkcs12(credential._handle, pfx, password))
        return credential

    @classmethod
    def from_pkcs12_file(cls, path: str | PathLike[str], password: str | bytes | None = None) -> Self:
        """As `from_pkcs12`, from a file. Raises `OSError` besides."""
        return cls.from_pkcs12(Path(path).read_bytes(), password)

    @classmethod
    def with_signer(
        cls,
        chain: ReadableBuffer,
        sign: Callable[[PrivateKeyOperation], ReadableBuffer],
        schemes: Sequence[int] = _SCHEMES,
    ) -> Self:
        """A chain in PEM whose private key is elsewhere: `sign` is called for each handshake and returns the signature.

        `schemes` are those that it can make, best first, in IANA numbers; of them the ones of the leaf's key are used. A
        signature is as TLS has it (ECDSA: DER, RFC 3279; RSA-PSS with a salt as long as the hash). With TLS 1.2 an ECDSA
        scheme names the hash alone, whatever the curve. What `sign` raises ends the handshake. Raises besides `ERR_BAD_SCHEME`, and `ERR_KEY_MISMATCH`: the leaf's key makes none of them.
        """
        credential = cls._empty()
        credential._check(_native.sst_credential_load_pem(credential._handle, chain, None))
        credential._check(_native.sst_credential_set_caller_signs(credential._handle, schemes))
        credential._sign = sign
        return credential

    @property
    def certificates(self) -> tuple[bytes, ...]:
        """The certificates in DER, as they are sent: the leaf first."""
        return certificates(_native.sst_credential_certificate, self._handle)

    def set_ocsp_response(self, response: ReadableBuffer) -> None:
        """Staple an OCSP response (DER, RFC 6960) for clients who ask; empty: none. Only its shape is checked.

        Raises `ConfigError` (`ERR_PARSE`, `ERR_LIST_TOO_LONG` over 32,000 bytes), `FrozenError` once a config has the
        credential.
        """
        self._check(_native.sst_credential_set_ocsp_response(self._handle, response))

    def set_scts(self, scts: ReadableBuffer) -> None:
        """Staple a SignedCertificateTimestampList (RFC 6962, 3.3); empty: none. As `set_ocsp_response`."""
        self._check(_native.sst_credential_set_scts(self._handle, scts))

    @classmethod
    def _empty(cls) -> Self:
        credential = cls.__new__(cls)
        credential._handle = made(_native.sst_credential_new())
        credential._sign = None
        return credential

    def _check(self, status: int) -> None:
        check(status, self._handle, _native.sst_credential_last_error)
