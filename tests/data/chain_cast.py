"""What make_chains.py makes its certificates with: `cast.certificate(NAME, ISSUER, ...)` writes chains/NAME.pem.

Keys come from names: the private key of an EC certificate is a hash of the name of its key. Nobody sends these
certificates from a server, so no key is written. RSA keys are those of the files in the folder above.
"""

import base64
import dataclasses
import hashlib
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

import der
from make_pki import CLOCK, DAY, HERE, general_name, key_usage, subject

DER = serialization.Encoding.DER
CHAINS = HERE / "chains"
CURVES = {"p256": ec.SECP256R1(), "p384": ec.SECP384R1(), "p224": ec.SECP224R1(), "secp256k1": ec.SECP256K1()}
RSA = {"rsa1024": "server-rsa1024", "rsa2048": "server-rsa2048"}
SIGN = ("key_cert_sign", "crl_sign")
NULL = b"\5\0"
ALGORITHMS = {
    ("rsa", "md5"): der.element(0x30, bytes.fromhex("06092a864886f70d010104"), NULL),
    ("rsa", "sha1"): der.element(0x30, bytes.fromhex("06092a864886f70d010105"), NULL),
    ("ec", "sha1"): der.element(0x30, bytes.fromhex("06072a8648ce3d0401")),
    ("ec", "sha384"): der.element(0x30, bytes.fromhex("06082a8648ce3d040303")),
}
DIGESTS = {"md5": hashes.MD5(), "sha1": hashes.SHA1()}


@dataclasses.dataclass
class Member:
    certificate: x509.Certificate  # as far as its subject goes: the written one may be changed behind it
    key: object


def from_files(name):
    """An authority of make_pki.py."""
    certificate = x509.load_pem_x509_certificate((HERE / f"{name}.pem").read_bytes())
    return Member(certificate, serialization.load_pem_private_key((HERE / f"{name}.key").read_bytes(), None))


def key_of(name, kind="p256"):
    if kind in RSA:
        return serialization.load_pem_private_key((HERE / f"{RSA[kind]}.key").read_bytes(), None)
    number = int.from_bytes(hashlib.sha256(f"key of {name}".encode()).digest()[:27], "big") >> 1
    return ec.derive_private_key(number, CURVES[kind])


def sign(tbs, key, digest):
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(tbs, padding.PKCS1v15(), digest)
    return key.sign(tbs, ec.ECDSA(digest, deterministic_signing=True))


def signed_again(certificate, key, digest=None, change=None):
    """The certificate with another digest, or with parts changed by hand."""
    tbs, algorithm, _ = der.disassemble(certificate)
    if digest:
        algorithm = ALGORITHMS["rsa" if isinstance(key, rsa.RSAPrivateKey) else "ec", digest]

    def edit(found):
        found[2] = algorithm
        if change:
            change(found)

    tbs = der.with_parts(tbs, edit)
    return der.assemble(tbs, algorithm, sign(tbs, key, DIGESTS[digest] if digest else hashes.SHA256()))


def damaged(certificate):
    """With one bit of the signature turned."""
    return certificate[:-1] + bytes([certificate[-1] ^ 1])


def with_other_algorithm(certificate):
    """With another algorithm behind the signed part than in it."""
    tbs, _, signature = der.disassemble(certificate)
    return der.assemble(tbs, ALGORITHMS["ec", "sha384"], signature)


def write(name, certificate):
    text = base64.encodebytes(certificate).replace(b"\n", b"")
    lines = [text[i : i + 64] + b"\n" for i in range(0, len(text), 64)]
    pem = b"".join([b"-----BEGIN CERTIFICATE-----\n", *lines, b"-----END CERTIFICATE-----\n"])
    (CHAINS / f"{name}.pem").write_bytes(pem)


def write_bytes(name, content):
    (CHAINS / name).write_bytes(content)


def name_of(text):
    """'CN' of the Test PKI, or an x509.Name as it is."""
    return text if isinstance(text, x509.Name) else subject(text)


def extensions_of(order, key, signer):
    found = list(order["extra"])
    if order["ca"] is not None:
        found.append((x509.BasicConstraints(ca=order["ca"], path_length=order["path_length"]), order["critical_ca"]))
    if order["usage"]:
        found.append((key_usage(*order["usage"]), True))
    if order["names"] is not None:
        names = [general_name(text) if isinstance(text, str) else text for text in order["names"]]
        found.append((x509.SubjectAlternativeName(names), order["critical_names"]))
    if order["purposes"]:
        found.append((x509.ExtendedKeyUsage(order["purposes"]), False))
    if order["permitted"] or order["excluded"]:
        found.append((x509.NameConstraints(order["permitted"], order["excluded"]), True))
    if order["ids"]:
        found.append((x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False))
    if order["ids"] and signer.key is not key:
        identifier = order["issuer_id"] or x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key())
        found.append((identifier, False))
    return found


DEFAULTS = dict(common_name=None, key=None, kind="p256", ca=None, path_length=None, critical_ca=True, usage=None,
                names=None, critical_names=False, purposes=None, permitted=None, excluded=None, ids=True,
                issuer_id=None, issuer_name=None, begin=-180, end=180, extra=(), digest=None, change=None, turn=None)


def certificate(name, issuer, **given):
    """issuer None: self-signed. key: the name of the key, by default that of the certificate. begin, end: in days from
    the clock. digest: "sha1" or "md5". change: of the parts before signing; turn: of the bytes behind it."""
    assert not given.keys() - DEFAULTS.keys(), given
    order = {**DEFAULTS, **given}
    key = key_of(order["key"] or name, order["kind"])
    own_name = name_of(name if order["common_name"] is None else order["common_name"])
    signer = issuer or Member(None, key)
    issuer_name = order["issuer_name"] or (issuer.certificate.subject if issuer else own_name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(own_name)
        .issuer_name(issuer_name)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1)
        .not_valid_before(CLOCK + order["begin"] * DAY)
        .not_valid_after(CLOCK + order["end"] * DAY)
    )
    for extension, critical in extensions_of(order, key, signer):
        builder = builder.add_extension(extension, critical)
    repeatable = {} if isinstance(signer.key, rsa.RSAPrivateKey) else {"ecdsa_deterministic": True}
    made = builder.sign(signer.key, hashes.SHA256(), **repeatable)
    bytes_ = made.public_bytes(DER)
    if order["digest"] or order["change"]:
        bytes_ = signed_again(bytes_, signer.key, order["digest"], order["change"])
    write(name, order["turn"](bytes_) if order["turn"] else bytes_)
    return Member(made, key)


def authority(name, issuer, **given):
    return certificate(name, issuer, **{**dict(ca=True, usage=SIGN, begin=-3650, end=3650), **given})


def leaf(name, issuer, **given):
    server = [x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]
    defaults = dict(ca=False, usage=("digital_signature",), names=["server.test"], purposes=server)
    return certificate(name, issuer, **{**defaults, **given})
