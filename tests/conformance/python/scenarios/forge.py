"""Records that the other side could have sealed: TLS 1.3, keys from the key log (README.md, section 8)."""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

import securestream as ss

from .failure import require
from .wire import records

APPLICATION_DATA = 23
HANDSHAKE = 22
KEY_UPDATE = 24
_IV_SIZE = 12


def expand_label(algorithm: hashes.HashAlgorithm, secret: bytes, label: str, size: int) -> bytes:
    """HKDF-Expand-Label with an empty context (RFC 8446, 7.1)."""
    name = b"tls13 " + label.encode()
    info = size.to_bytes(2, "big") + bytes([len(name)]) + name + b"\0"
    return HKDFExpand(algorithm, size, info).derive(secret)


class Keys:
    """Of one traffic secret."""

    def __init__(self, suite: int, secret: bytes) -> None:
        self._suite = suite
        self._hash: hashes.HashAlgorithm = hashes.SHA384() if suite == 0x1302 else hashes.SHA256()
        require(len(secret) == self._hash.digest_size, f"a traffic secret of {len(secret)} bytes")
        key = expand_label(self._hash, secret, "key", 16 if suite == 0x1301 else 32)
        self._secret = secret
        self._aead = ChaCha20Poly1305(key) if suite == 0x1303 else AESGCM(key)
        self._iv = int.from_bytes(expand_label(self._hash, secret, "iv", _IV_SIZE), "big")

    def next(self) -> Keys:
        """Those behind a KeyUpdate (RFC 8446, 7.2)."""
        return Keys(self._suite, expand_label(self._hash, self._secret, "traffic upd", self._hash.digest_size))

    def seal(self, sequence: int, kind: int, payload: bytes) -> bytes:
        """One record, its content without padding (RFC 8446, 5.2)."""
        content = payload + bytes([kind])
        header = bytes([APPLICATION_DATA, 3, 3]) + (len(content) + 16).to_bytes(2, "big")
        nonce = (self._iv ^ sequence).to_bytes(_IV_SIZE, "big")
        return header + self._aead.encrypt(nonce, content, header)


class Forger:
    """Seals as a stream would that has put `sent` on its wire since its handshake gave OK."""

    def __init__(self, stream: ss.Stream, lines: list[str], sent: bytes | bytearray) -> None:
        label = "CLIENT_TRAFFIC_SECRET_0" if stream.role == ss.Role.CLIENT else "SERVER_TRAFFIC_SECRET_0"
        secrets = [line.split()[2] for line in lines if line.split()[0] == label]
        require(stream.info.version == ss.Version.TLS1_3, "only records of TLS 1.3 can be forged")
        require(bool(secrets), "no side keeps a key log")
        self._stream = stream
        self._keys = Keys(stream.info.suite, bytes.fromhex(secrets[0]))
        self._sequence = len(records(sent)[0])

    def seal(self, kind: int, payload: bytes) -> bytes:
        require(self._stream.counter(ss.Counter.KEY_UPDATES_SENT) == 0, "the forged side has sent a KeyUpdate of its own")
        record = self._keys.seal(self._sequence, kind, payload)
        self._sequence += 1
        if kind == HANDSHAKE and payload[:1] == bytes([KEY_UPDATE]):
            self._keys, self._sequence = self._keys.next(), 0
        return record
