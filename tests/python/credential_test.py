"""Credentials: each form that keys and certificates come in, from bytes and from files, and what is refused."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

import securestream as ss
from peers import DATA, client_config, connections, data, der_chain, key, pem

CHAIN = der_chain("server-chain")  # the leaf, lower, upper
BOTH = ("pw", "pw"), ("utf8", "pä"), ("utf8", "pä".encode()), ("empty", ""), ("empty", None), ("null", None), ("null", "")


@pytest.mark.parametrize("cipher", ["aes256", "3des", "rc2-40", "plain"])
@pytest.mark.parametrize(("made_with", "password"), BOTH)
def test_pkcs12_of_every_age_loads_key_and_chain(cipher: str, made_with: str, password: str | bytes | None) -> None:
    """X13."""
    path = DATA / f"p12-{cipher}-{made_with}.p12"
    assert ss.Credential.from_pkcs12(path.read_bytes(), password).certificates == CHAIN
    assert ss.Credential.from_pkcs12_file(path, password).certificates == CHAIN


@pytest.mark.parametrize(
    ("name", "password", "code"),
    [
        ("aes256-pw", "wrong", "ERR_BAD_PASSWORD"),
        ("aes256-pw", None, "ERR_PASSWORD_REQUIRED"),
        ("3des-utf8", "pa", "ERR_BAD_PASSWORD"),
        ("rc2-128", "pw", "ERR_UNSUPPORTED_CIPHER"),
        ("no-mac", "pw", "ERR_PARSE"),
        ("trailing", "pw", "ERR_PARSE"),
        ("cut", "pw", "ERR_PARSE"),
        ("two-keys", "pw", "ERR_PARSE"),
        ("no-key", "pw", "ERR_NO_PRIVATE_KEY"),
    ],
)
def test_pkcs12_that_cannot_be_used_says_why(name: str, password: str | None, code: str) -> None:
    """X13."""
    with pytest.raises(ss.ConfigError) as caught:
        ss.Credential.from_pkcs12(data(f"p12-{name}.p12"), password)
    assert caught.value.name == code and caught.value.hint


def test_what_does_not_belong_to_the_chain_is_not_sent() -> None:
    assert ss.Credential.from_pkcs12(data("p12-stranger.p12"), "pw").certificates == CHAIN


@pytest.mark.parametrize("private", ["server-chain.key.der", "server-chain-sec1.key.der"])
def test_der_loads_from_bytes_and_files(private: str) -> None:
    apart = ss.Credential.from_der(data("server-chain.der"), memoryview(data(private)))
    files = ss.Credential.from_der_files(DATA / "server-chain.der", str(DATA / private))
    assert apart.certificates == files.certificates == CHAIN
    ss.Config(credentials=[apart, files]).freeze(ss.Role.SERVER)


def test_der_of_a_certificate_alone_has_no_key() -> None:
    alone = ss.Credential.from_der_files(DATA / "server-rsa2048.der")
    assert alone.certificates == (data("server-rsa2048.der"),)
    with pytest.raises(ss.ConfigError) as caught:
        ss.Config(credentials=alone)
    assert caught.value.name == "ERR_NO_CREDENTIAL"


@pytest.mark.parametrize(
    ("chain", "private", "code"),
    [
        (data("server-chain.der")[:-1], data("server-chain.key.der"), "ERR_PARSE"),
        (data("server-chain.der") + b"\0", data("server-chain.key.der"), "ERR_PARSE"),
        (data("server-chain.der"), data("server-chain-encrypted.key.der"), "ERR_PASSWORD_REQUIRED"),
        (data("server-chain.der"), data("server-rsa2048-pkcs1.key.der"), "ERR_KEY_MISMATCH"),
        (b"", b"", "ERR_NO_CERTIFICATE"),
    ],
)
def test_der_that_cannot_be_used_says_why(chain: bytes, private: bytes, code: str) -> None:
    with pytest.raises(ss.ConfigError) as caught:
        ss.Credential.from_der(chain, private)
    assert caught.value.name == code


@pytest.mark.parametrize("name", ["server-chain-shuffled", "server-chain-all"])
def test_certificates_are_put_in_the_order_of_the_wire(name: str) -> None:
    """X08."""
    private = None if name.endswith("all") else key("server-chain")
    assert ss.Credential(pem(name), private).certificates == CHAIN


@pytest.mark.parametrize("name", ["old-ec-aes128", "old-ec-aes256", "old-ec-3des", "odd-encrypted-aes256", "odd-encrypted-pkcs12-3des"])
def test_encrypted_key_needs_its_password(name: str) -> None:
    """X12."""
    files = DATA / "server-p256.pem", DATA / f"{name}.key"
    loaded = ss.Credential.from_files(*files, password="secret")
    assert loaded.certificates == ss.Credential.from_files(*files, password=b"secret").certificates == der_chain("server-p256")
    for password, code in ((None, "ERR_PASSWORD_REQUIRED"), ("wrong", "ERR_BAD_PASSWORD")):
        with pytest.raises(ss.ConfigError) as caught:
            ss.Credential.from_files(*files, password=password)
        assert caught.value.name == code


def test_password_for_a_plain_key_is_ignored() -> None:
    """X12."""
    ss.Credential(pem("server-p256"), key("server-p256"), password="not needed")


@pytest.mark.parametrize("name", ["odd-ed448", "odd-x25519", "odd-secp256k1", "odd-p224"])
def test_key_of_another_kind_is_refused(name: str) -> None:
    with pytest.raises(ss.ConfigError) as caught:
        ss.Credential(pem("server-p256"), key(name))
    assert caught.value.name == "ERR_UNSUPPORTED_KEY"


def test_own_key_that_is_too_small_needs_its_opt_out() -> None:
    small = ss.Credential(pem("server-rsa1024"), key("server-rsa1024"))
    with pytest.raises(ss.ConfigError) as caught:
        ss.Config(credentials=small).freeze(ss.Role.SERVER)
    assert caught.value.name == "ERR_UNSUPPORTED_KEY"
    ss.Config(credentials=small, minimum_rsa_bits=1024).freeze(ss.Role.SERVER)


@pytest.mark.parametrize(
    "load",
    [
        lambda path: ss.Credential.from_files(path),
        lambda path: ss.Credential.from_files(DATA / "server-p256.pem", path),
        lambda path: ss.Credential.from_der_files(path),
        lambda path: ss.Credential.from_der_files(DATA / "server-chain.der", path),
        lambda path: ss.Credential.from_pkcs12_file(path, "pw"),
        lambda path: ss.TrustStore.from_files(path),
        lambda path: ss.TrustStore.from_files(der=[path]),
        lambda path: ss.TrustStore.from_files(DATA / "root.pem", crls=[path]),
    ],
)
def test_missing_file_is_the_error_of_open(load: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        load(tmp_path / "missing")
    assert not isinstance(caught.value, ss.SecureStreamError) and "missing" in str(caught.value)
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


@pytest.mark.parametrize("wrong", ["text", None, 5, memoryview(b"every other")[::2]])
def test_buffer_that_cannot_be_read_is_a_type_error(wrong: object) -> None:
    calls: list[Callable[..., object]] = [ss.Credential, ss.Credential.from_der, ss.Credential.from_pkcs12, ss.TrustStore]
    for load in calls:
        with pytest.raises((TypeError, BufferError)):
            load(wrong)


def test_foreign_client_verifies_the_chain_of_a_pkcs12_file() -> None:
    """X08: by the root alone. What was sent is what `certificates` says."""
    credential = ss.Credential.from_pkcs12_file(DATA / "p12-3des-pw.p12", "pw")
    with connections(client_config(), ss.Config(credentials=credential)) as (client, server):
        assert client.peer_certificates == credential.certificates == server.stream.local_certificates
        assert client.verified_chain == CHAIN + der_chain("root")
        assert server.verified_chain == server.peer_certificates == ()
    assert ssl.DER_cert_to_PEM_cert(CHAIN[0]).split() == pem("server-chain").decode().split("-----END CERTIFICATE-----")[0].split() + ["-----END", "CERTIFICATE-----"]
