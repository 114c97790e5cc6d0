#!/usr/bin/env python3
"""Makes the PKCS#12 files p12-*.p12: server-chain with its key, the certificates out of order, in every age of the format.

Needs OpenSSL 3's libcrypto and its legacy provider (Debian: libssl3). By ctypes, since no tool makes a file without a
password (RFC 7292, B.1: no bytes) apart from one with an empty one (two zero bytes). Salts are random: a file that is
here already is kept.
"""

import ctypes
import hashlib
import hmac
import pathlib

import der

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 100
NONE, AES_256_CBC, PBE_3DES, PBE_RC2_128, PBE_RC2_40 = -1, 427, 146, 148, 149

crypto = ctypes.CDLL("libcrypto.so.3")
for _name in """OSSL_PROVIDER_load BIO_new_mem_buf PEM_read_bio_PrivateKey PEM_read_bio_X509 OPENSSL_sk_new_null PKCS12_create
                EVP_sha1 EVP_sha256 PKCS12_add_safes PKCS12_add_key PKCS12_add_cert""".split():
    getattr(crypto, _name).restype = ctypes.c_void_p


def pointer(value):
    return ctypes.c_void_p(value)


def load_key(name):
    text = (HERE / f"{name}.key").read_bytes()
    bio = pointer(crypto.BIO_new_mem_buf(text, len(text)))
    return pointer(crypto.PEM_read_bio_PrivateKey(bio, None, None, None))


def load_certificates(name):
    text = (HERE / f"{name}.pem").read_bytes()
    bio = pointer(crypto.BIO_new_mem_buf(text, len(text)))
    found = []
    while certificate := crypto.PEM_read_bio_X509(bio, None, None, None):
        found.append(pointer(certificate))
    return found


def stack(items):
    result = pointer(crypto.OPENSSL_sk_new_null())
    for item in items:
        crypto.OPENSSL_sk_push(result, item)
    return result


def to_der(pfx):
    out = ctypes.POINTER(ctypes.c_ubyte)()
    length = crypto.i2d_PKCS12(pfx, ctypes.byref(out))
    assert length > 0
    return ctypes.string_at(out, length)


def create(password, key_cipher, certificate_cipher, md=None, key=True, certificates=None):
    """password: None or bytes; md None: no MAC."""
    leaf, *issuers = load_certificates("server-chain")
    others = [*load_certificates("root"), *reversed(issuers)] if certificates is None else certificates
    pfx = pointer(crypto.PKCS12_create(password, b"server-chain", load_key("server-chain") if key else None,
                                       leaf if key else None, stack(others), key_cipher, certificate_cipher, ROUNDS, -1, 0))
    assert pfx.value
    if md is not None:
        assert crypto.PKCS12_set_mac(pfx, password, -1, None, 0, ROUNDS, md) == 1
    return to_der(pfx)


def two_keys():
    bags, safes = ctypes.c_void_p(), ctypes.c_void_p()
    for name in ["server-chain", "server-p256"]:
        assert crypto.PKCS12_add_key(ctypes.byref(bags), load_key(name), 0, ROUNDS, NONE, None)
    assert crypto.PKCS12_add_cert(ctypes.byref(bags), load_certificates("server-chain")[0])
    assert crypto.PKCS12_add_safe(ctypes.byref(safes), bags, NONE, 0, None) == 1
    pfx = pointer(crypto.PKCS12_add_safes(safes, 0))
    assert crypto.PKCS12_set_mac(pfx, b"pw", -1, None, 0, ROUNDS, pointer(crypto.EVP_sha256())) == 1
    return to_der(pfx)


def with_pbmac1(pfx):
    """The file with the MAC of RFC 9579 instead. What the old way had for salt and rounds is still there, unused."""
    version, auth_safe, mac = der.parts(pfx)
    content = der.content(der.parts(auth_safe)[1])
    salt = der.content(der.parts(mac)[1])
    prf = der.element(0x30, bytes.fromhex("06082a864886f70d0209"), b"\5\0")  # hmacWithSHA256
    derivation = der.element(0x30, der.element(4, salt), der.element(2, bytes([ROUNDS])), der.element(2, b"\x20"), prf)
    derivation = der.element(0x30, bytes.fromhex("06092a864886f70d01050c"), derivation)
    algorithm = der.element(0x30, bytes.fromhex("06092a864886f70d01050e"), der.element(0x30, derivation, prf))
    key = hashlib.pbkdf2_hmac("sha256", b"pw", salt, ROUNDS, 32)
    digest = hmac.digest(key, der.content(content), "sha256")
    mac = der.element(0x30, der.element(0x30, algorithm, der.element(4, digest)), *der.parts(mac)[1:])
    return der.element(0x30, version, auth_safe, mac)


def write(name, make):
    path = HERE / f"p12-{name}.p12"
    if not path.exists():
        path.write_bytes(make())


def main():
    assert crypto.OSSL_PROVIDER_load(None, b"legacy") and crypto.OSSL_PROVIDER_load(None, b"default")
    sha1, sha256 = pointer(crypto.EVP_sha1()), pointer(crypto.EVP_sha256())
    ages = {"aes256": (AES_256_CBC, AES_256_CBC, sha256), "3des": (PBE_3DES, PBE_3DES, sha1),
            "rc2-40": (PBE_3DES, PBE_RC2_40, sha1), "plain": (NONE, NONE, sha256)}
    passwords = {"null": None, "empty": b"", "pw": b"pw", "utf8": "pä".encode()}
    for age, (key_cipher, certificate_cipher, md) in ages.items():
        for kind, password in passwords.items():
            write(f"{age}-{kind}", lambda: create(password, key_cipher, certificate_cipher, md))
    write("rc2-128", lambda: create(b"pw", PBE_3DES, PBE_RC2_128, sha1))
    write("no-mac", lambda: create(b"pw", AES_256_CBC, AES_256_CBC))
    write("no-key", lambda: create(b"pw", AES_256_CBC, AES_256_CBC, sha256, key=False))
    leaf, *issuers = load_certificates("server-chain")
    write("stranger", lambda: create(b"pw", AES_256_CBC, AES_256_CBC, sha256,
                                     certificates=[*load_certificates("server-other"), *issuers]))
    write("two-keys", two_keys)
    good = (HERE / "p12-aes256-pw.p12").read_bytes()
    write("pbmac1", lambda: with_pbmac1(good))
    write("trailing", lambda: good + b"\0")
    write("cut", lambda: good[:-20])


if __name__ == "__main__":
    main()
