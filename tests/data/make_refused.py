#!/usr/bin/env python3
"""Makes refused/: chains with their keys, which a server or a client sends; most have a fault. NAME.pem is the leaf
and its issuers, NAME.key the key of the leaf. The leaves are for both roles, for server.test, and come from `root`. Run
make_pki.py first. A second run writes the same bytes.
"""

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, ObjectIdentifier

import chain_cast
from chain_cast import HERE, damaged, from_files, key_of
from make_chains import repeat_an_extension
from make_pki import BOTH

PEM = serialization.Encoding.PEM
REFUSED = HERE / "refused"
NULL = b"\5\0"
UNKNOWN = x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.55555.1"), NULL)

# An authority with what stands behind its leaves.
root = from_files("root"), b""
intermediate = from_files("intermediate"), (HERE / "intermediate.pem").read_bytes()


def authority(name, issuer=root, **given):
    above, chain = issuer
    path = REFUSED / f"{name}.pem"
    given = {"common_name": f"refused {name}", "key": name, **given}
    made = chain_cast.authority(f"../refused/{name}", above, **given)
    own = path.read_bytes()
    path.unlink()  # it is sent behind its leaves only
    return made, own + chain


def sent(name, issuer=intermediate, **given):
    above, chain = issuer
    path = REFUSED / f"{name}.pem"
    given = {"purposes": BOTH, **given}
    chain_cast.leaf(f"../refused/{name}", above, common_name=f"refused {name}", key=name, **given)
    path.write_bytes(path.read_bytes() + chain)
    key = key_of(name, given.get("kind", "p256"))
    (REFUSED / f"{name}.key").write_bytes(
        key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def faults_of_the_leaf():
    sent("expired", begin=-200, end=-10)
    sent("expired-other", begin=-200, end=-10, names=["other.test"])
    sent("not-yet-valid", begin=10, end=200)
    sent("self-signed", (None, b""))
    sent("bad-signature", turn=damaged)
    sent("weak-key", kind="rsa1024")
    sent("weak-key-expired", kind="rsa1024", begin=-200, end=-10)
    sent("weak-digest", digest="sha1")
    sent("malformed", extra=[(x509.UnrecognizedExtension(ExtensionOID.CERTIFICATE_POLICIES, NULL), False)])
    sent("repeated", change=repeat_an_extension)
    sent("critical", extra=[(UNKNOWN, True)])
    sent("code", purposes=[ExtendedKeyUsageOID.CODE_SIGNING])
    sent("staple", extra=[(x509.TLSFeature([x509.TLSFeatureType.status_request]), False)])
    missing, _ = authority("missing")
    sent("issuer-missing", (missing, b""))


def faults_of_the_issuers():
    sent("not-ca", authority("no-ca", ca=False))
    sent("too-long", authority("below", authority("zero", path_length=0)))
    sent("name-constraint", authority("other-only", permitted=[x509.DNSName("other.test")]))
    sent("all", authority("other-and-no-ca", ca=False, permitted=[x509.DNSName("other.test")]), begin=-200, end=-10)
    upper, above = authority("upper")
    lower, both = authority("lower", (upper, above))
    sent("upper-missing", (lower, both[: -len(above)]))
    issuer = root
    for number in range(1, 11):
        issuer = authority(f"long-{number}", issuer)
    sent("far-too-long", issuer)


def other_paths():
    """Beside the issuer, one of the same name and key that has expired. Nothing is wrong with the chain."""
    issuer, above = authority("renewed")
    _, expired = authority("renewed-expired", common_name="refused renewed", key="renewed", end=-10)
    sent("expired-beside", (issuer, expired + above))


def names():
    """A leaf whose wildcards stand where they mean nothing."""
    sent("odd-wildcards", names=["a*.front.test", "x.*.middle.test", "*.*.two.test", "*", "127.*.0.1"])


if __name__ == "__main__":
    REFUSED.mkdir(exist_ok=True)
    faults_of_the_leaf()
    faults_of_the_issuers()
    other_paths()
    names()
    print(f"{len(list(REFUSED.glob('*.pem')))} chains")
