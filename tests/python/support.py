"""What tests and drivers share: the credentials of tests/data, names and numbers, the pattern."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import securestream as ss

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
NOW = 1767225600  # when the certificates of tests/data are judged: 2026-01-01
NAME = "server.test"

VERSIONS = {"1.2": ss.Version.TLS1_2, "1.3": ss.Version.TLS1_3}
GROUPS = {
    "x25519": 29,
    "secp256r1": 23,
    "secp384r1": 24,
    "secp521r1": 25,
    "X25519MLKEM768": 4588,
    "MLKEM1024": 514,
}
SUITES = {
    "TLS_AES_128_GCM_SHA256": 0x1301,
    "TLS_AES_256_GCM_SHA384": 0x1302,
    "TLS_CHACHA20_POLY1305_SHA256": 0x1303,
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": 0xC02B,
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": 0xC02C,
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": 0xC02F,
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": 0xC030,
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": 0xCCA8,
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": 0xCCA9,
}
SCHEMES = {
    "ecdsa_secp256r1_sha256": 0x0403,
    "ecdsa_secp384r1_sha384": 0x0503,
    "ecdsa_secp521r1_sha512": 0x0603,
    "ed25519": 0x0807,
    "rsa_pss_rsae_sha256": 0x0804,
    "rsa_pss_rsae_sha384": 0x0805,
    "rsa_pss_rsae_sha512": 0x0806,
    "rsa_pkcs1_sha256": 0x0401,
    "rsa_pkcs1_sha384": 0x0501,
    "rsa_pkcs1_sha512": 0x0601,
}


def pem(name: str) -> bytes:
    return (DATA / f"{name}.pem").read_bytes()


def key(name: str) -> bytes:
    return (DATA / f"{name}.key").read_bytes()


def data(file: str) -> bytes:
    return (DATA / file).read_bytes()


def der_chain(name: str) -> tuple[bytes, ...]:
    """The certificates of a file in PEM, as DER, in its order."""
    blocks = re.findall("-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", pem(name).decode(), re.DOTALL)
    return tuple(base64.b64decode(block) for block in blocks)


def credential(name: str = "server-p256") -> ss.Credential:
    return ss.Credential(pem(name), key(name))


def trust(*names: str) -> ss.TrustStore:
    """A store with the anchors of these files, by default of root."""
    return ss.TrustStore(*(pem(name) for name in names or ("root",)))


_pattern = bytearray()
_last = 1


def pattern(size: int) -> bytes:
    """The first bytes of the pattern (tests/conformance/README.md, section 3)."""
    global _last
    while len(_pattern) < size:
        _last = (1664525 * _last + 1013904223) & 0xFFFFFFFF
        _pattern.append(_last >> 24)
    return bytes(_pattern[:size])
