#!/usr/bin/env python3
"""Makes the Test PKI in this folder: NAME.pem is a chain, leaf first, NAME.key its private key (PKCS#8).

Needs `cryptography` 43 or later. Keys that are here already are used again, names, serial numbers and times are fixed
and signatures deterministic: a second run writes the same bytes. Delete a key to have it replaced.
"""

import datetime
import hashlib
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HERE = pathlib.Path(__file__).resolve().parent
CLOCK = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)  # the time at which the tests judge certificates
DAY = datetime.timedelta(days=1)
PEM = serialization.Encoding.PEM
PKCS8 = serialization.PrivateFormat.PKCS8
PLAIN = serialization.NoEncryption()

KINDS = {
    "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "p521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "rsa1024": lambda: rsa.generate_private_key(65537, 1024),
    "rsa2048": lambda: rsa.generate_private_key(65537, 2048),
    "rsa4096": lambda: rsa.generate_private_key(65537, 4096),
    "rsa8192": lambda: rsa.generate_private_key(65537, 8192),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
}
SERVER_NAMES = ["server.test", "*.wild.test", "127.0.0.1", "::1"]
BOTH = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
SERVER = BOTH[:1]
CLIENT = BOTH[1:]


class Entity:
    def __init__(self, name, kind):
        self.name = name
        self.key = load_or_make_key(name, kind)
        self.chain = []


def load_or_make_key(name, kind):
    path = HERE / f"{name}.key"
    if not path.exists():
        path.write_bytes(KINDS[kind]().private_bytes(PEM, PKCS8, PLAIN))
    return serialization.load_pem_private_key(path.read_bytes(), None)


def subject(common_name):
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Test PKI"), x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    )


def general_name(text):
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def key_usage(*bits):
    names = ["digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
             "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"]
    return x509.KeyUsage(**{name: name in bits for name in names})


def certify(entity, issuer, common_name, extensions, begin, end):
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject(common_name))
        .issuer_name(issuer.chain[0].subject if issuer.chain else subject(common_name))
        .public_key(entity.key.public_key())
        .serial_number(int.from_bytes(hashlib.sha256(entity.name.encode()).digest()[:8], "big") >> 1)
        .not_valid_before(begin)
        .not_valid_after(end)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    if isinstance(issuer.key, ed25519.Ed25519PrivateKey):
        return builder.sign(issuer.key, None)
    repeatable = {"ecdsa_deterministic": True} if isinstance(issuer.key, ec.EllipticCurvePrivateKey) else {}
    return builder.sign(issuer.key, hashes.SHA256(), **repeatable)


def write(name, certificates):
    (HERE / f"{name}.pem").write_bytes(b"".join(certificate.public_bytes(PEM) for certificate in certificates))


def authority(name, common_name, issuer=None, kind="p256"):
    entity = Entity(name, kind)
    extensions = [
        (x509.BasicConstraints(ca=True, path_length=None), True),
        (key_usage("key_cert_sign", "crl_sign"), True),
        (x509.SubjectKeyIdentifier.from_public_key(entity.key.public_key()), False),
    ]
    signer = issuer or entity
    certificate = certify(entity, signer, common_name, extensions, CLOCK - 3650 * DAY, CLOCK + 3650 * DAY)
    entity.chain = [certificate] + (issuer.chain if issuer and issuer.chain[0].issuer != issuer.chain[0].subject else [])
    write(name, [certificate])
    return entity


def leaf(name, issuer, kind="p256", names=SERVER_NAMES, purposes=SERVER, usage=("digital_signature",), begin=-180,
         end=180, common_name=None):
    """issuer None: self-signed. names, purposes or usage None: the certificate has no such extension."""
    entity = Entity(name, kind)
    extensions = [(x509.BasicConstraints(ca=False, path_length=None), True)]
    if names is not None:
        extensions.append((x509.SubjectAlternativeName([general_name(text) for text in names]), False))
    if purposes is not None:
        extensions.append((x509.ExtendedKeyUsage(purposes), False))
    if usage is not None:
        extensions.append((key_usage(*usage), True))
    certificate = certify(entity, issuer or entity, common_name or name, extensions, CLOCK + begin * DAY,
                          CLOCK + end * DAY)
    self_signed_root = issuer and issuer.chain[0].issuer == issuer.chain[0].subject
    entity.chain = [certificate] + (issuer.chain if issuer and not self_signed_root else [])
    write(name, entity.chain)
    return entity


def servers(intermediate):
    for kind in ["p256", "p384", "p521", "rsa2048", "rsa4096", "rsa8192", "ed25519", "rsa1024"]:
        leaf(f"server-{kind}", intermediate, kind)
    leaf("server-names", intermediate, names=["a.test", "b.test", "ex_ample.test", "xn--bcher-kva.test"])
    leaf("server-other", intermediate, names=["other.test"])
    leaf("server-cn-only", intermediate, names=None, common_name="server.test")
    leaf("server-expired", intermediate, begin=-200, end=-10)
    leaf("server-expired-other", intermediate, names=["other.test"], begin=-200, end=-10)
    leaf("server-not-yet-valid", intermediate, begin=10, end=200)
    leaf("server-not-yet-valid-other", intermediate, names=["other.test"], begin=10, end=200)
    leaf("server-revoked", intermediate)
    leaf("server-self-signed", None)


def variants(intermediate):
    purposes = {"none": None, "server": SERVER, "client": CLIENT, "both": BOTH,
                "any": [ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE], "code": [ExtendedKeyUsageOID.CODE_SIGNING]}
    for name, purpose in purposes.items():
        leaf(f"eku-{name}", intermediate, purposes=purpose)
    usages = {"none": None, "signature": ("digital_signature",), "encipherment": ("key_encipherment",),
              "certsign": ("key_cert_sign",)}
    for name, usage in usages.items():
        leaf(f"ku-{name}", intermediate, "rsa2048", usage=usage)


def clients():
    root = authority("client-root", "Test Client Root")
    for kind in ["p256", "p384", "p521", "rsa1024", "rsa2048", "rsa4096", "ed25519"]:
        leaf(f"client-{kind}", root, kind, names=["client.test"], purposes=CLIENT)
    other = authority("client-root-b", "Test Client Root B")
    leaf("client-b", other, names=["client-b.test"], purposes=CLIENT)


def other_key_forms():
    """The same keys as other tools write them. An encrypted file has a random salt and is made once."""
    p256 = load_or_make_key("server-p256", "p256")
    rsa2048 = load_or_make_key("server-rsa2048", "rsa2048")
    traditional = serialization.PrivateFormat.TraditionalOpenSSL
    (HERE / "server-p256-sec1.key").write_bytes(p256.private_bytes(PEM, traditional, PLAIN))
    (HERE / "server-rsa2048-pkcs1.key").write_bytes(rsa2048.private_bytes(PEM, traditional, PLAIN))
    encrypted = HERE / "server-p256-encrypted.key"
    if not encrypted.exists():
        encrypted.write_bytes(p256.private_bytes(PEM, PKCS8, serialization.BestAvailableEncryption(b"secret")))


def main():
    root = authority("root", "Test Root")
    intermediate = authority("intermediate", "Test Intermediate", root)
    servers(intermediate)
    variants(intermediate)
    clients()
    (HERE / "server-no-issuer.key").write_bytes((HERE / "server-p256.key").read_bytes())
    write("server-no-issuer", [x509.load_pem_x509_certificate((HERE / "server-p256.pem").read_bytes())])
    untrusted = authority("untrusted-root", "Untrusted Root")
    leaf("server-untrusted", untrusted)
    leaf("client-untrusted", untrusted, names=["client.test"], purposes=CLIENT)
    upper = authority("chain-upper", "Test Chain Upper", root)
    lower = authority("chain-lower", "Test Chain Lower", upper)
    leaf("server-chain", lower)
    other_key_forms()


if __name__ == "__main__":
    main()
