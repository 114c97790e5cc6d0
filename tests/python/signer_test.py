"""Private keys that are elsewhere: a credential's `sign` is called for each handshake."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import securestream as ss
from peers import (
    NAME,
    Task,
    asking_config,
    client_config,
    connections,
    der_chain,
    foreign_client,
    key,
    pem,
    server_config,
    sockets,
)

P256, P384, ED25519, PSS = 0x0403, 0x0503, 0x0807, 0x0804


class Signer:
    """A private key that the library never sees."""

    def __init__(self, name: str) -> None:
        self._key = load_pem_private_key(key(name), None)
        self.asked: list[ss.PrivateKeyOperation] = []

    def __call__(self, operation: ss.PrivateKeyOperation) -> bytes:
        self.asked.append(operation)
        digest: hashes.HashAlgorithm = {4: hashes.SHA256(), 5: hashes.SHA384(), 6: hashes.SHA512()}.get(
            operation.scheme >> 8, hashes.SHA256()
        )
        if isinstance(self._key, ed25519.Ed25519PrivateKey):
            return self._key.sign(operation.message)
        if isinstance(self._key, ec.EllipticCurvePrivateKey):
            return self._key.sign(operation.message, ec.ECDSA(digest))
        assert isinstance(self._key, rsa.RSAPrivateKey) and operation.scheme == PSS
        return self._key.sign(operation.message, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)


@pytest.mark.parametrize("kind, scheme", [("p256", P256), ("p384", P384), ("ed25519", ED25519), ("rsa2048", PSS)])
@pytest.mark.parametrize("version", [ss.Version.TLS1_2, ss.Version.TLS1_3])
def test_signer_signs(kind: str, scheme: int, version: ss.Version) -> None:
    signers = [Signer(f"server-{kind}"), Signer(f"client-{kind}")]
    server = asking_config(credentials=ss.Credential.with_signer(pem(f"server-{kind}"), signers[0]), max_version=version)
    client = client_config(credentials=ss.Credential.with_signer(pem(f"client-{kind}"), signers[1]))
    with connections(client, server) as (a, b):
        assert a.stream.is_verified and b.stream.is_verified
        a.sendall(b"ping")
        assert b.recv(9) == b"ping"
    if version == ss.Version.TLS1_2 and kind == "p384":
        scheme = P256  # SHA-256, the first of the peer's, with any curve (RFC 5246, 7.4.1.4.1)
    for signer, name in zip(signers, (f"server-{kind}", f"client-{kind}")):
        assert [(asked.scheme, asked.chain) for asked in signer.asked] == [(scheme, der_chain(name))]


def test_signer_of_the_chain_that_is_sent_is_asked() -> None:
    """Another credential of the config could sign by the same scheme."""
    right, wrong = Signer("server-p256"), Signer("server-other")
    good = ss.Credential.with_signer(pem("server-p256"), right)
    other = ss.Credential.with_signer(pem("server-other"), wrong)
    for config in (
        server_config(credentials=[good, other]),
        server_config(credentials=other, select_credential=lambda request: good),
        server_config(credentials=other, select_config=lambda hello: server_config(credentials=good)),
    ):
        with connections(server=config) as (a, _):
            assert a.peer_certificates == der_chain("server-p256")
    assert (len(right.asked), len(wrong.asked)) == (3, 0)


def test_signer_that_raises_ends_the_handshake() -> None:
    def sign(operation: ss.PrivateKeyOperation) -> bytes:
        raise OSError("the token is gone")

    server = server_config(credentials=ss.Credential.with_signer(pem("server-p256"), sign))
    with connections(server=server, shaken=False) as (a, b):
        other = Task(b.handshake)
        with pytest.raises(ss.AlertError) as refused:
            a.handshake()
        assert refused.value.alert == 80
        assert str(other.error()) == "the token is gone"


def test_signer_serves_python_ssl() -> None:
    server = server_config(
        credentials=ss.Credential.with_signer(pem("server-p256"), Signer("server-p256")),
        select_config=lambda hello: None,
    )
    with sockets() as (one, two), ss.Connection.server(two, server) as b:
        other = Task(lambda: b.recv(4))
        with foreign_client().wrap_socket(one, server_hostname=NAME) as a:
            a.sendall(b"ping")
            assert other.result() == b"ping"


def test_schemes_that_the_key_cannot_make_are_refused() -> None:
    with pytest.raises(ss.ConfigError) as mismatch:
        ss.Credential.with_signer(pem("server-p256"), Signer("server-p256"), [ED25519])
    assert mismatch.value.name == "ERR_KEY_MISMATCH"
    with pytest.raises(ss.ConfigError) as bad:
        ss.Credential.with_signer(pem("server-p256"), Signer("server-p256"), [1])
    assert bad.value.name == "ERR_BAD_SCHEME"
