"""Certificates that are refused: code, reasons, alert, chain and hint of the exception, at each side."""

from __future__ import annotations

import datetime
import pickle
import ssl
import traceback

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import securestream as ss
from peers import (
    NAME,
    NOW,
    Task,
    client_config,
    connections,
    credential,
    der_chain,
    foreign_server,
    pair,
    refused,
    server_config,
    sockets,
    streams,
    trust,
)

OPEN = {"minimum_rsa_bits": 1024}  # for a server whose key is too small
REQUIRE = ss.ClientCertificate.REQUIRE

# X03, X07, X09 and the alerts that they allow: leaf, code, the other reasons, alerts.
KINDS = [
    ("server-expired", "CERT_EXPIRED", [], [45]),
    ("server-not-yet-valid", "CERT_NOT_YET_VALID", [], [45]),
    ("server-expired-other", "CERT_EXPIRED", ["CERT_NAME_MISMATCH"], [45]),
    ("server-not-yet-valid-other", "CERT_NOT_YET_VALID", ["CERT_NAME_MISMATCH"], [45]),
    ("server-other", "CERT_NAME_MISMATCH", [], [42, 46]),
    ("server-cn-only", "CERT_NAME_MISMATCH", [], [42, 46]),
    ("server-self-signed", "CERT_SELF_SIGNED", [], [48]),
    ("server-untrusted", "CERT_ISSUER_NOT_FOUND", [], [48]),
    ("server-no-issuer", "CERT_ISSUER_NOT_FOUND", [], [48]),
    ("server-rsa1024", "CERT_WEAK_KEY", [], [42]),
    ("eku-client", "CERT_PURPOSE", [], [43, 46]),
    ("eku-any", "CERT_PURPOSE", [], [43, 46]),
    ("eku-code", "CERT_PURPOSE", [], [43, 46]),
]


@pytest.mark.parametrize("version", list(ss.Version), ids=lambda version: version.name)
@pytest.mark.parametrize(("leaf", "code", "others", "alerts"), KINDS, ids=[kind[0] for kind in KINDS])
def test_wrong_certificate_is_told_whole(leaf: str, code: str, others: list[str], alerts: list[int], version: ss.Version) -> None:
    server = server_config(leaf, max_version=version, **OPEN)
    with connections(server=server, shaken=False) as (ours, theirs):
        task = Task(theirs.handshake)
        with pytest.raises(ss.CertificateError) as caught:
            ours.handshake()
        error, told = caught.value, task.error()
        assert error.name == f"ERR_{code}" and error.code == ss.Status[f"ERR_{code}"]
        assert {reason.name for reason in error.reasons} == {f"ERR_{name}" for name in [code, *others]}
        assert error.alert_sent in alerts and error.alert_received is None
        assert isinstance(told, ss.AlertError) and told.alert == error.alert_sent
        assert error.chain == der_chain(leaf)
        assert ours.peer_certificates == ours.verified_chain == ()
        assert error.hint and f"what to do: {error.hint}" in traceback.format_exception(error)[-1]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda version: version.name)
@pytest.mark.parametrize("leaf", ["ku-encipherment", "ku-certsign"])
@pytest.mark.parametrize("verify", [ss.Verify.FULL, ss.Verify.NONE], ids=lambda verify: verify.name)
def test_wrong_key_usage_is_a_certificate_error_without_reasons(leaf: str, verify: ss.Verify, version: ssl.TLSVersion) -> None:
    """X03. The server is a foreign one: ours refuses such a leaf when it is loaded."""
    with sockets() as (one, two):
        ours = ss.Connection.client(one, client_config(verify=verify), NAME, verify_time=NOW)
        task = Task(lambda: foreign_server(version, name=leaf).wrap_socket(two, server_side=True).recv(1))
        with pytest.raises(ss.CertificateError) as caught:
            ours.handshake()
        error = caught.value
        assert error.name == "ERR_KEY_USAGE" and error.reasons == frozenset()
        assert error.alert_sent in (42, 43, 47) and error.chain == der_chain(leaf) and error.hint
        assert isinstance(task.error(), ssl.SSLError)


def test_server_tells_what_is_wrong_with_a_client() -> None:
    server = server_config(trust=trust("client-root"), client_certificate=REQUIRE)
    for leaf, code, alert in (("client-untrusted", "ERR_CERT_ISSUER_NOT_FOUND", 48), ("eku-server", "ERR_CERT_PURPOSE", 43)):
        one = server if leaf.startswith("client") else server.replace(trust=trust("root"))
        client, side = streams(client_config(credentials=credential(leaf)), one)
        flight, _ = client.handshake(side.handshake(client.handshake()[0])[0])
        with pytest.raises(ss.CertificateError) as caught:
            side.handshake(flight)
        error = caught.value
        assert (error.name, error.alert_sent, error.chain) == (code, alert, der_chain(leaf))
        with pytest.raises(ss.AlertError) as told:
            client.decrypt(error.output)
        assert told.value.alert == alert and told.value.hint, "the client is told what to do, too"
        assert not hasattr(told.value, "chain")


def test_refusal_is_the_same_at_every_call_and_in_last_error() -> None:
    client, server = streams(server=server_config("server-expired"))
    flight, _ = server.handshake(client.handshake()[0])
    for data in (flight, b""):
        with pytest.raises(ss.CertificateError) as caught:
            client.handshake(data)
        assert caught.value.chain == der_chain("server-expired")
    last = client.last_error
    assert isinstance(last, ss.CertificateError)
    assert (last.record, last.chain) == (caught.value.record, caught.value.chain)


def test_refusal_survives_pickling_with_its_chain() -> None:
    error = refused(client_config(), server_config("server-expired-other"))
    again = pickle.loads(pickle.dumps(error))
    assert (again.record, again.chain, again.reasons) == (error.record, error.chain, error.reasons)
    assert again.__notes__ == error.__notes__ and len(error.__notes__) == 1


def test_failure_of_another_kind_has_no_chain() -> None:
    client, server = streams(client_config(groups=[23]), server_config(groups=[29]))
    with pytest.raises(ss.ProtocolError) as caught:
        server.handshake(client.handshake()[0])
    assert not isinstance(caught.value, ss.CertificateError) and caught.value.hint


def test_first_of_the_names_is_expected_the_other_is_told() -> None:
    stream = ss.Stream(client_config(), ss.Role.CLIENT, server_name=NAME, verify_name="b.test", verify_time=NOW)
    server = ss.Stream(server_config(), ss.Role.SERVER)
    with pytest.raises(ss.CertificateError, match="b.test") as caught:
        stream.handshake(server.handshake(stream.handshake()[0])[0])
    assert caught.value.reasons == {ss.Status.ERR_CERT_NAME_MISMATCH}


def test_opt_outs_accept_what_they_name() -> None:
    assert pair(client_config(minimum_rsa_bits=1024), server_config("server-rsa1024", **OPEN))[0].is_verified
    assert pair(client_config(verify=ss.Verify.CHAIN_ONLY), server_config("server-other"))[0].is_verified
    assert not pair(client_config(verify=ss.Verify.NONE), server_config("server-self-signed"))[0].is_verified
    assert pair(client_config(trust=trust("server-self-signed")), server_config("server-self-signed"))[0].is_verified


def signed_by_sha1() -> tuple[bytes, bytes, bytes]:
    """An issuer, a leaf that it has signed by SHA-1 (cryptography does not, so the signature is put in), and its key."""
    issuer, key = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())
    issued, anchor = certificate("leaf", key.public_key(), issuer, ca=False), certificate("issuer", issuer.public_key(), issuer, ca=True)
    sha256, sha1 = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b", b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05"
    body = issued.tbs_certificate_bytes.replace(sha256, sha1)
    der = issued.public_bytes(Encoding.DER).replace(sha256, sha1)
    der = der.replace(issued.signature, issuer.sign(body, padding.PKCS1v15(), hashes.SHA1()))
    return anchor.public_bytes(Encoding.DER), der, key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def certificate(name: str, key: CertificatePublicKeyTypes, issuer: rsa.RSAPrivateKey, *, ca: bool) -> x509.Certificate:
    day = datetime.timedelta(days=1)
    now = datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)
    builder = x509.CertificateBuilder(common_name("issuer"), common_name(name), key, x509.random_serial_number(), now - day, now + day)
    builder = builder.add_extension(x509.BasicConstraints(ca, None), True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), False)
    return builder.sign(issuer, hashes.SHA256())


def common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def test_sha1_in_the_chain_needs_its_opt_out() -> None:
    anchor, leaf, key = signed_by_sha1()
    server = ss.Config(credentials=ss.Credential.from_der(leaf, key))
    client = client_config(trust=ss.TrustStore(der=[anchor]))
    error = refused(client, server)
    assert error.reasons == {ss.Status.ERR_CERT_WEAK_DIGEST} and error.chain == (leaf,) and error.alert_sent == 42
    assert pair(client.replace(allow_sha1=True), server)[0].is_verified
    with pytest.raises(ss.CertificateError) as caught:
        pair(client.replace(allow_sha1=False), server)
    assert caught.value.name == "ERR_CERT_WEAK_DIGEST"
