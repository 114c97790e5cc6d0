#!/usr/bin/env python3
"""Makes chains/: the certificates that verdicts.txt judges, one a file, and revocation lists. Run make_pki.py first. A
second run writes the same bytes.
"""

import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

import der
from chain_cast import (CHAINS, DER, Member, authority, certificate, damaged, from_files, key_of, leaf,
                        with_other_algorithm, write_bytes)
from make_pki import CLOCK, DAY, subject

PEM = serialization.Encoding.PEM
UNKNOWN = x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.55555.1"), b"\5\0")
CLIENT = [ExtendedKeyUsageOID.CLIENT_AUTH]
SERVER = [ExtendedKeyUsageOID.SERVER_AUTH]
ANY = [ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]
POLICY = ObjectIdentifier("1.3.6.1.4.1.55555.2")

root = from_files("root")
intermediate = from_files("intermediate")
other_root = from_files("untrusted-root")
client_root = from_files("client-root")


def issued(name, issuer=root, leaf_given=None, **given):
    """An authority NAME under root, and the leaf NAME-leaf."""
    made = authority(name, issuer, **given)
    leaf(f"{name}-leaf", made, **(leaf_given or {}))
    return made


def authorities():
    not_ca = issued("not-ca", ca=False)
    issued("no-constraints", ca=None)
    issued("no-certsign", usage=("digital_signature", "crl_sign"))
    issued("no-usage", usage=None)
    issued("ca-not-critical", critical_ca=False)
    issued("version1-ca", change=lambda found: (found.pop(0), found.pop()))
    issued("version1-root", None, change=lambda found: (found.pop(0), found.pop()))
    issued("not-ca-root", None, ca=False)
    leaf("ca-leaf", intermediate, ca=True)
    leaf("leaf-issued-leaf", from_files("server-p256"))
    leaf("not-ca-expired-leaf", not_ca, begin=-200, end=-10)
    leaf("version1-leaf", intermediate, change=lambda found: (found.pop(0), found.pop()))


def path_lengths():
    zero = issued("zero", path_length=0)
    issued("below-zero", zero)
    leaf("zero-ca-leaf", zero, ca=True)
    one = issued("one", path_length=1)
    issued("below-one", one)
    issued("below-below-one", authority("between", one))
    zero_root = authority("zero-root", None, path_length=0)
    leaf("zero-root-leaf", zero_root)
    issued("below-zero-root", zero_root)
    # The same authority with a new key, certified by the old one: such a certificate is not counted.
    renewed = authority("zero-renewed", zero, common_name="zero", path_length=0)
    leaf("zero-renewed-leaf", renewed)
    issued("below-again", authority("again-renewed", authority("again", root), common_name="again", path_length=0))


def long_chains():
    issuer = None
    for number in range(13):
        issuer = authority(f"long-{number}", issuer)
        if number in (7, 8, 9, 12):
            leaf(f"long-{number}-leaf", issuer)


def dns(*names):
    return [x509.DNSName(name) for name in names]


def addresses(*networks):
    return [x509.IPAddress(ipaddress.ip_network(network)) for network in networks]


def name_constraints():
    mail = [x509.RFC822Name("somebody@server.test")]
    other = [x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Other")]))]
    ours = [x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Test PKI")]))]
    wild = {"names": ["*.wild.test"]}
    issued("permit-server", permitted=dns("server.test"))
    issued("permit-test", permitted=dns("test"))
    issued("permit-other", permitted=dns("other.test"))
    issued("permit-erver", permitted=dns("erver.test"))
    issued("permit-case", permitted=dns("SERVER.Test"))
    issued("permit-two", permitted=dns("other.test", "server.test"))
    issued("permit-wild", leaf_given=wild, permitted=dns("wild.test"))
    issued("exclude-server", excluded=dns("server.test"))
    issued("exclude-other", excluded=dns("other.test"))
    issued("exclude-in-permitted", permitted=dns("test"), excluded=dns("server.test"))
    issued("exclude-in-wild", leaf_given=wild, excluded=dns("evil.wild.test"))
    issued("permit-one-of-two", leaf_given={"names": ["server.test", "b.test"]}, permitted=dns("server.test"))
    issued("permit-ip", leaf_given={"names": ["10.1.2.3"]}, permitted=addresses("10.0.0.0/8"))
    issued("permit-other-ip", leaf_given={"names": ["10.1.2.3"]}, permitted=addresses("192.168.0.0/16"))
    issued("permit-ip6", leaf_given={"names": ["2001:db8::1"]}, permitted=addresses("2001:db8::/32"))
    issued("permit-other-ip6", leaf_given={"names": ["2001:db8::1"]}, permitted=addresses("2001:db9::/32"))
    issued("exclude-ip", leaf_given={"names": ["10.1.2.3"]}, excluded=addresses("10.1.2.0/24"))
    issued("exclude-other-ip", leaf_given={"names": ["10.1.2.3"]}, excluded=addresses("10.1.3.0/24"))
    issued("permit-ip-for-dns", permitted=addresses("10.0.0.0/8"))
    issued("permit-dns-for-ip", leaf_given={"names": ["10.1.2.3"]}, permitted=dns("server.test"))
    issued("permit-mail", leaf_given={"names": ["server.test", *mail]}, permitted=[x509.RFC822Name("server.test")])
    issued("permit-other-mail", leaf_given={"names": ["server.test", *mail]}, permitted=[x509.RFC822Name("other.test")])
    issued("permit-directory", permitted=ours)
    issued("permit-other-directory", permitted=other)
    issued("exclude-directory", excluded=ours)
    identifier = [x509.RegisteredID(POLICY)]
    issued("permit-id", leaf_given={"names": ["server.test", *identifier]}, permitted=identifier)
    issued("permit-absent-id", permitted=identifier)
    cn_only = {"names": None, "common_name": "server.test"}
    constrained = issued("permit-cn-only", leaf_given=cn_only, permitted=dns("other.test"))
    leaf("permit-cn-only-client", constrained, purposes=CLIENT, **cn_only)
    issued("permit-two-ips", leaf_given={"names": ["10.1.2.3"]}, permitted=addresses("192.168.0.0/16", "10.1.2.3/32"))
    issued("permit-ip-and-dns", leaf_given={"names": ["server.test", "10.1.2.3"]},
           permitted=[*addresses("10.0.0.0/8"), *dns("other.test")])
    issued("permit-ip-for-ip6", leaf_given={"names": ["2001:db8::1"]}, permitted=addresses("10.0.0.0/8"))
    issued("constrained-root", None, permitted=dns("other.test"))
    leaf("constrained-below-leaf", authority("constrained-below", authority("constrained-above", root,
                                                                             permitted=dns("other.test"))))


def signatures():
    leaf("damaged-leaf", intermediate, turn=damaged)
    issued("damaged-ca", turn=damaged)
    issued("damaged-root", None, turn=damaged)
    leaf("other-algorithm-leaf", intermediate, turn=with_other_algorithm)
    leaf("wrong-key-leaf", from_files("chain-upper"), issuer_name=intermediate.certificate.subject, ids=False)
    leaf("sha1-leaf", intermediate, digest="sha1")
    issued("sha1-ca", digest="sha1")
    issued("sha1-root", None, digest="sha1")
    rsa_root = authority("rsa-root", None, kind="rsa2048")
    leaf("rsa-sha1-leaf", rsa_root, digest="sha1")
    leaf("md5-leaf", rsa_root, digest="md5")
    issued("md5-ca", rsa_root, digest="md5")
    issued("md5-root", None, kind="rsa2048", digest="md5")


def keys():
    for kind in ["p224", "secp256k1"]:
        leaf(f"{kind}-leaf", intermediate, kind=kind)
    for kind in ["p384", "p224", "rsa1024"]:
        issued(f"{kind}-ca", kind=kind)
    issued("rsa1024-root", None, kind="rsa1024")
    issued("p224-root", None, kind="p224")


def repeat_an_extension(found):
    extensions = der.parts(der.parts(found[-1])[0])
    found[-1] = der.element(0xA3, der.element(0x30, *extensions, extensions[0]))


def features(staple):
    """The TLS feature extension (RFC 7633) elsewhere than in a good leaf."""
    oid = ObjectIdentifier("1.3.6.1.5.5.7.1.24")
    promised = [(staple, False)]
    ca = issued("staple-ca", extra=promised)
    leaf("staple-ca-promised-leaf", ca, extra=promised)
    leaf("staple-below-leaf", authority("staple-below", ca), extra=promised)
    issued("staple-root", None, extra=promised, leaf_given={"extra": promised})
    leaf("staple-root-plain-leaf", from_member("staple-root"))
    leaf("staple-expired-leaf", intermediate, extra=promised, begin=-200, end=-10)
    leaf("staple-client-leaf", intermediate, extra=promised, purposes=CLIENT)
    leaf("staple-damaged-leaf", intermediate, extra=[(x509.UnrecognizedExtension(oid, b"\5\0"), False)])
    leaf("staple-other-leaf", intermediate, extra=[(x509.TLSFeature([x509.TLSFeatureType.status_request_v2]), False)])
    many = b"".join(der.element(2, bytes([number])) for number in range(30, 47))
    leaf("staple-many-leaf", intermediate, extra=[(x509.UnrecognizedExtension(oid, der.element(0x30, many)), False)])


def extensions():
    feature = x509.TLSFeature([x509.TLSFeatureType.status_request])
    explicit = (x509.PolicyConstraints(require_explicit_policy=0, inhibit_policy_mapping=None), True)
    policies = (x509.CertificatePolicies([x509.PolicyInformation(POLICY, None)]), False)
    leaf("critical-leaf", intermediate, extra=[(UNKNOWN, True)])
    leaf("not-critical-leaf", intermediate, extra=[(UNKNOWN, False)])
    issued("critical-ca", extra=[(UNKNOWN, True)])
    issued("critical-root", None, extra=[(UNKNOWN, True)])
    leaf("staple-leaf", intermediate, extra=[(feature, False)])
    features(feature)
    leaf("repeated-leaf", intermediate, change=repeat_an_extension)
    issued("repeated-ca", change=repeat_an_extension)
    issued("explicit-policy", extra=[explicit])
    issued("with-policy", extra=[explicit, policies], leaf_given={"extra": [policies]})
    issued("for-clients", purposes=CLIENT)
    issued("for-servers", purposes=SERVER)
    issued("for-any", purposes=ANY)
    issued("for-clients-root", None, purposes=CLIENT)
    issued("for-servers-root", None, purposes=SERVER)
    for name, purposes in [("for-both-above", CLIENT + SERVER), ("for-clients-above", CLIENT)]:
        issued(f"{name}-lower", authority(name, root, purposes=purposes))
    leaf("for-servers-client-leaf", authority("for-servers-b", client_root, purposes=SERVER), purposes=CLIENT)
    write_bytes("chain-leaf.pem", from_files("server-chain").certificate.public_bytes(PEM))
    write_bytes("junk.der", b"junk")
    whole = leaf("whole-leaf", intermediate).certificate.public_bytes(DER)
    write_bytes("trailing.der", whole + b"\0")
    write_bytes("cut.der", whole[:-1])


def times():
    issued("expired", begin=-200, end=-10)
    issued("not-yet", begin=10, end=200)
    issued("below-expired-root", issued("expired-root", None, begin=-200, end=-10))
    issued("not-yet-root", None, begin=10, end=200)
    leaf("expired-below-expired", authority("expired-b", root, begin=-200, end=-10), begin=-200, end=-10)
    leaf("now-leaf", intermediate, begin=0, end=1)
    leaf("leaf-for-clients", intermediate, purposes=CLIENT)
    leaf("expired-purpose-leaf", intermediate, begin=-200, end=-10, purposes=CLIENT)


def alternatives():
    """Authorities of one name."""
    for name, other_key in [("twin", False), ("impostor", True)]:
        for ids in [True, False]:
            tail = "" if ids else "-no-ids"
            issued(f"{name}{tail}", common_name=name, ids=ids, leaf_given={"ids": ids})
            authority(f"{name}{tail}-old", root, common_name=name, ids=ids, begin=-200, end=-10,
                      key=f"{name}{tail}-old" if other_key else f"{name}{tail}")
    authority("cross-b", other_root, common_name="cross", key="cross")
    authority("cross-expired", root, common_name="cross", key="cross", begin=-200, end=-10)
    issued("cross")
    # Two levels: the upper one has a cross-certificate too.
    upper = authority("cross-upper", root)
    authority("cross-upper-b", other_root, common_name="cross-upper", key="cross-upper")
    issued("cross-lower", upper)
    issued("renewed-root", None)
    authority("renewed-root-old", None, common_name="renewed-root", key="renewed-root", begin=-200, end=-10)
    authority("renewed-root-other", None, common_name="renewed-root", key="renewed-root-other")
    issued("plain-root", None, ids=False, leaf_given={"ids": False})
    authority("plain-root-other", None, ids=False, common_name="plain-root", key="plain-root-other")
    # The new root, certified by the old one, which alone is trusted.
    authority("renewed-root-cross", root, common_name="renewed-root", key="renewed-root")
    circle = authority("circle-a", authority("circle-b", root), common_name="circle-a")
    authority("circle-b-again", circle, common_name="circle-b", key="circle-b")
    leaf("circle-leaf", circle)
    mesh()
    leaf("case-leaf", intermediate, ids=False, issuer_name=subject("TEST  intermediate"))
    wrong = x509.AuthorityKeyIdentifier(b"\1" * 20, None, None)
    leaf("wrong-id-leaf", intermediate, issuer_id=wrong)


def mesh():
    """Two authorities that have certified one another again and again. Only one certificate leads to the root, and
    nothing may be between it and the leaf."""
    a, b = issued("mesh-a", path_length=0), Member(None, key_of("mesh-b"))
    for name in "ab":
        authority(f"mesh-{name}-expired", root, common_name=f"mesh-{name}", key=f"mesh-{name}", begin=-200, end=-10)
    for number in range(4):
        authority(f"mesh-b-{number}", a, common_name="mesh-b", key="mesh-b")
        authority(f"mesh-a-{number}", b, issuer_name=subject("mesh-b"), common_name="mesh-a", key="mesh-a")


def self_signed():
    leaf("alone", None)
    leaf("alone-expired", None, begin=-200, end=-10)
    leaf("alone-client", None, purposes=CLIENT)
    leaf("alone-as-root", None, common_name="Test Root")
    leaf("alone-ca", None, ca=True, usage=("digital_signature", "key_cert_sign"))
    leaf("alone-issues", from_member("alone"))
    certificate("bare-leaf", intermediate, names=["server.test"])


def from_member(name):
    """A leaf of this folder, as issuer."""
    return Member(x509.load_pem_x509_certificate((CHAINS / f"{name}.pem").read_bytes()), key_of(name))


def names():
    rows = {
        "name-wild": ["*.a.test"], "name-wild-test": ["*.test"], "name-star": ["*"], "name-star-star": ["*.*.test"],
        "name-star-in-middle": ["a.*.test"], "name-star-at-end": ["w*.a.test"], "name-star-in-front": ["*w.a.test"],
        "name-star-alabel": ["xn--*.a.test"], "name-alabel": ["xn--bcher-kva.test"], "name-upper": ["SERVER.Test"],
        "name-dot": ["server.test."], "name-nul": ["server.test\0.evil.test"], "name-blank": [" server.test"],
        "name-ip-as-dns": [x509.DNSName("127.0.0.1")], "name-ip": ["127.0.0.1", "::1"], "name-none": [],
        "name-uri": [x509.UniformResourceIdentifier("https://server.test/")],
        "name-mail": [x509.RFC822Name("a@server.test")], "name-second": ["a.test", "server.test"],
        "name-underscore": ["ex_ample.test"], "name-single": ["server"], "name-wild-ip": ["*.0.0.1"],
    }
    for name, given in rows.items():
        leaf(name, intermediate, names=given)
    leaf("name-cn", intermediate, names=None, common_name="server.test")
    leaf("name-cn-ip", intermediate, names=None, common_name="127.0.0.1")
    leaf("name-cn-and-other", intermediate, names=["other.test"], common_name="server.test")
    leaf("name-no-subject", intermediate, common_name=x509.Name([]), critical_names=True)


def revocation_list(name, signer, revoked=(), extra=(), issuer=None, begin=-30, end=30, number=1, entry_extra=(),
                    with_id=False):
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name((issuer or signer).certificate.subject)
        .last_update(CLOCK + begin * DAY)
        .next_update(CLOCK + end * DAY)
        .add_extension(x509.CRLNumber(number), False)
    )
    for extension in extra:
        builder = builder.add_extension(extension, True)
    if with_id:
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key())
        builder = builder.add_extension(identifier, False)
    for member in revoked:
        entry = x509.RevokedCertificateBuilder().serial_number(member.certificate.serial_number)
        entry = entry.revocation_date(CLOCK + begin * DAY)
        for extension in entry_extra:
            entry = entry.add_extension(extension, False)
        builder = builder.add_revoked_certificate(entry.build())
    made = builder.sign(signer.key, hashes.SHA256(), ecdsa_deterministic=True)
    (CHAINS / f"{name}.pem").write_bytes(made.public_bytes(PEM))


def scope(**given):
    names = ["only_contains_user_certs", "only_contains_ca_certs", "indirect_crl", "only_contains_attribute_certs"]
    fields = {**{name: False for name in names}, **given}
    return x509.IssuingDistributionPoint(full_name=None, relative_name=None, only_some_reasons=None, **fields)


def revocation_lists():
    good = from_files("server-p256")
    no_sign = issued("no-crlsign", usage=("key_cert_sign",))
    revocation_list("crl-no-crlsign", no_sign)
    revocation_list("crl-hold", intermediate, [good], entry_extra=[x509.CRLReason(x509.ReasonFlags.certificate_hold)])
    renewed = from_member("renewed-root")
    revocation_list("crl-renewed-root-itself", renewed, [renewed])
    revocation_list("crl-renewed-root", renewed, with_id=True)
    revocation_list("crl-renewed-root-other", from_member("renewed-root-other"),
                    [from_member("renewed-root-leaf")], with_id=True, begin=-20)
    revocation_list("crl-critical", intermediate, extra=[UNKNOWN])
    revocation_list("crl-critical-revokes", intermediate, [good], extra=[UNKNOWN])
    revocation_list("crl-expired-revokes", intermediate, [good], begin=-60, end=-10)
    revocation_list("crl-wrong-signer-revokes", other_root, [good], issuer=intermediate)
    revocation_list("crl-delta", intermediate, [good], extra=[x509.DeltaCRLIndicator(1)], begin=-5, number=3)
    revocation_list("crl-ca-only", intermediate, extra=[scope(only_contains_ca_certs=True)])
    revocation_list("crl-users-only", intermediate, extra=[scope(only_contains_user_certs=True)])
    revocation_list("crl-other-root", other_root)
    revocation_list("crl-cross", from_member("cross"))
    revocation_list("crl-root-cross", root, [from_member("cross")])


def main():
    CHAINS.mkdir(exist_ok=True)
    for group in [authorities, path_lengths, long_chains, name_constraints, signatures, keys, extensions, times,
                  alternatives, self_signed, names, revocation_lists]:
        group()


if __name__ == "__main__":
    main()
