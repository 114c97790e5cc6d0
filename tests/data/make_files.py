#!/usr/bin/env python3
"""Makes what is not one chain and its key: the same things in DER and in odd orders, keys with parts left out, old PEM
encryption, and revocation lists. Run make_pki.py first. A second run writes the same bytes; files with a random salt
are kept.
"""

import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from make_pki import CLOCK, DAY, HERE, PEM, PKCS8, PLAIN

DER = serialization.Encoding.DER
TRADITIONAL = serialization.PrivateFormat.TraditionalOpenSSL


def certificates(name):
    return x509.load_pem_x509_certificates((HERE / f"{name}.pem").read_bytes())


def key(name):
    return serialization.load_pem_private_key((HERE / f"{name}.key").read_bytes(), None)


def write(name, content):
    (HERE / name).write_bytes(content)


def write_once(name, make):
    if not (HERE / name).exists():
        write(name, make())


# ---- DER ----


def der_files():
    write("server-chain.der", b"".join(c.public_bytes(DER) for c in certificates("server-chain")))
    write("roots.der", b"".join(certificates(name)[0].public_bytes(DER) for name in ["root", "client-root"]))
    write("server-chain.key.der", key("server-chain").private_bytes(DER, PKCS8, PLAIN))
    write("server-chain-sec1.key.der", key("server-chain").private_bytes(DER, TRADITIONAL, PLAIN))
    write("server-rsa2048.der", certificates("server-rsa2048")[0].public_bytes(DER))
    write("server-rsa2048-pkcs1.key.der", key("server-rsa2048").private_bytes(DER, TRADITIONAL, PLAIN))
    encryption = serialization.BestAvailableEncryption(b"secret")
    write_once("server-chain-encrypted.key.der", lambda: key("server-chain").private_bytes(DER, PKCS8, encryption))


# ---- PEM in other orders ----


def orders():
    leaf, lower, upper = (c.public_bytes(PEM) for c in certificates("server-chain"))
    root = certificates("root")[0].public_bytes(PEM)
    private = key("server-chain").private_bytes(PEM, PKCS8, PLAIN)
    write("server-chain-shuffled.pem", leaf + upper + root + lower)
    write("server-chain-all.pem", root + upper + private + lower + leaf)


# ---- EC keys with parts left out (RFC 5915, 3; RFC 5958) ----


def element(tag, *content):
    body = b"".join(content)
    length = bytes([len(body)]) if len(body) < 128 else bytes([0x81, len(body)])
    return bytes([tag]) + length + body


P256 = bytes.fromhex("06082a8648ce3d030107")
P384 = bytes.fromhex("06052b81040022")
EC_PUBLIC_KEY = bytes.fromhex("06072a8648ce3d0201")


def ec_private_key(curve, public):
    """ECPrivateKey of server-p256; curve and public None: left out."""
    secret = key("server-p256")
    point = secret.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    parts = [element(2, b"\1"), element(4, secret.private_numbers().private_value.to_bytes(32, "big"))]
    if curve:
        parts.append(element(0xA0, curve))
    if public:
        parts.append(element(0xA1, element(3, b"\0", point)))
    return element(0x30, *parts)


def pem(label, der):
    run = subprocess.run(["openssl", "base64", "-e"], input=der, capture_output=True, check=True)
    return b"".join([f"-----BEGIN {label}-----\n".encode(), run.stdout, f"-----END {label}-----\n".encode()])


def pkcs8(inner, curve=P256):
    return element(0x30, element(2, b"\0"), element(0x30, EC_PUBLIC_KEY, curve), element(4, inner))


def ec_keys():
    for name, curve, public in [("params", P256, False), ("public", None, True), ("both", P256, True),
                                ("neither", None, False)]:
        write(f"ec-{name}.key", pem("PRIVATE KEY", pkcs8(ec_private_key(curve, public))))
    write("ec-sec1-no-params.key", pem("EC PRIVATE KEY", ec_private_key(None, True)))
    write("ec-curves-differ.key", pem("PRIVATE KEY", pkcs8(ec_private_key(P256, True), P384)))


# ---- "Proc-Type: 4,ENCRYPTED" ----


def old_encryption():
    for name, source, cipher in [("ec-3des", "server-p256", "des3"), ("ec-aes128", "server-p256", "aes128"),
                                 ("ec-aes256", "server-p256", "aes256"), ("rsa-3des", "server-rsa2048", "des3"),
                                 ("rsa-aes256", "server-rsa2048", "aes256"), ("ec-camellia", "server-p256", "camellia128")]:
        command = ["openssl", "rsa" if name.startswith("rsa") else "ec", "-in", HERE / f"{source}.key", f"-{cipher}",
                   "-passout", "pass:secret"]
        if name.startswith("rsa"):
            command.append("-traditional")
        write_once(f"old-{name}.key", lambda: subprocess.run(command, capture_output=True, check=True).stdout)


# ---- revocation lists ----


def revocation_list(signer, revoked=(), begin=-30, end=30, number=1, issuer=None):
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(certificates(issuer or signer)[0].subject)
        .last_update(CLOCK + begin * DAY)
        .next_update(CLOCK + end * DAY)
        .add_extension(x509.CRLNumber(number), False)
    )
    for name in revoked:
        entry = x509.RevokedCertificateBuilder().serial_number(certificates(name)[0].serial_number)
        builder = builder.add_revoked_certificate(entry.revocation_date(CLOCK + begin * DAY).build())
    return builder.sign(key(signer), hashes.SHA256(), ecdsa_deterministic=True)


def revocation_lists():
    lists = {
        "crl-root": revocation_list("root"),
        "crl-root-revokes": revocation_list("root", ["intermediate"]),
        "crl-client-root": revocation_list("client-root"),
        "crl-client-root-revokes": revocation_list("client-root", ["client-p256"]),
        "crl-intermediate": revocation_list("intermediate"),
        "crl-intermediate-revokes": revocation_list("intermediate", ["server-revoked"], begin=-20, number=2),
        "crl-intermediate-expired": revocation_list("intermediate", begin=-60, end=-10),
        "crl-intermediate-future": revocation_list("intermediate", begin=10, end=60),
        "crl-wrong-signer": revocation_list("untrusted-root", issuer="intermediate"),
    }
    for name, crl in lists.items():
        write(f"{name}.pem", crl.public_bytes(PEM))
    both = [lists["crl-root"], lists["crl-intermediate-revokes"]]
    write("crl-both.der", b"".join(crl.public_bytes(DER) for crl in both))


if __name__ == "__main__":
    der_files()
    orders()
    ec_keys()
    old_encryption()
    revocation_lists()
