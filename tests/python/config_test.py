"""Configs, credentials and trust: what can be set, what is refused with which words, and how a config is replaced."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import securestream as ss
from peers import DATA, NAME, NOW, client_config, credential, key, pair, pem, server_config, shake, trust


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"groups": [1]}, "ERR_BAD_GROUP"),
        ({"groups": []}, "ERR_BAD_GROUP"),
        ({"tls12_suites": [0x1301]}, "ERR_BAD_SUITE"),
        ({"signature_schemes": [0x0201]}, "ERR_BAD_SCHEME"),
        ({"alpn": [""]}, "ERR_BAD_ALPN"),
        ({"alpn": ["x" * 256]}, "ERR_BAD_ALPN"),
        ({"min_version": ss.Version.TLS1_3, "max_version": ss.Version.TLS1_2}, "ERR_BAD_VERSION"),
        ({"client_cas": [b"not a certificate"]}, "ERR_PARSE"),
        ({"minimum_rsa_bits": 512}, "ERR_INVALID_ARGUMENT"),
        ({"max_fragment": 16385}, "ERR_INVALID_ARGUMENT"),
    ],
)
def test_setting_that_cannot_be_is_a_value_error(settings: Any, name: str) -> None:
    with pytest.raises(ValueError) as caught:
        ss.Config(**settings)
    assert isinstance(caught.value, ss.SecureStreamError) and caught.value.name == name
    if name == "ERR_INVALID_ARGUMENT":
        assert next(iter(settings)) in str(caught.value), "it says which setting"


def test_unknown_setting_and_text_for_a_list_are_type_errors() -> None:
    with pytest.raises(TypeError, match="no setting verfy"):
        ss.Config(verfy=0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="alpn is a list"):
        ss.Config(alpn="h2")
    with pytest.raises(TypeError, match="client_cas is a list"):
        ss.Config(client_cas=pem("root"))  # type: ignore[arg-type]


def test_freeze_tells_what_is_missing() -> None:
    with pytest.raises(ss.ConfigError) as caught:
        ss.Config().freeze(ss.Role.SERVER)
    assert caught.value.name == "ERR_NO_CREDENTIAL"
    with pytest.raises(ss.ConfigError) as caught:
        ss.Config(trust=ss.TrustStore()).freeze(ss.Role.CLIENT)
    assert caught.value.name == "ERR_NO_TRUST"
    ss.Config(verify=ss.Verify.NONE).freeze(ss.Role.CLIENT)


def test_client_without_trust_takes_that_of_the_system() -> None:
    """It does not go on without. (This version cannot read it, and says what to do.)"""
    try:
        ss.TrustStore.system()
    except ss.UnsupportedError:
        with pytest.raises(ss.UnsupportedError, match=r"trust=TrustStore"):
            ss.Stream(ss.Config(), ss.Role.CLIENT, server_name=NAME)
    else:
        ss.Stream(ss.Config(), ss.Role.CLIENT, server_name=NAME)


def test_settings_take_effect() -> None:
    client = client_config(alpn=["h2", b"http/1.1"], groups=[23], max_version=ss.Version.TLS1_2, tls12_suites=[0xCCA9])
    server = server_config(alpn=["http/1.1"], report=[ss.EventKind.ALERT_RECEIVED])
    one, two = pair(client, server)
    assert (one.version, one.info.suite, one.info.group) == (ss.Version.TLS1_2, 0xCCA9, 23)
    assert one.alpn == two.alpn == "http/1.1"
    assert two.server_name == NAME
    two.decrypt(one.close())
    assert two.next_event() == ss.Event(ss.EventKind.ALERT_RECEIVED, 0, 0, b"")
    assert two.next_event() is None


def test_key_log_event_has_the_lines() -> None:
    one, two = pair(client_config(report=[ss.EventKind.KEY_LOG]))
    lines = []
    while event := one.next_event():
        assert event.kind == ss.EventKind.KEY_LOG
        lines.append(event.data.split())
    assert len(lines) == 5 and all(len(line) == 3 for line in lines)
    assert two.next_event() is None, "off unless asked for"


def test_replace_gives_another_certificate_and_leaves_the_old_streams() -> None:
    old = server_config()
    client, server = pair(server=old)
    new = old.replace(credentials=credential("server-rsa2048"))
    fresh = pair(server=new)[0]
    assert fresh.peer_certificates != client.peer_certificates
    assert server.decrypt(client.encrypt(b"still here"))[0] == b"still here"
    assert pair(server=old)[0].peer_certificates == client.peer_certificates


def test_replace_keeps_the_other_settings() -> None:
    config = client_config(alpn=iter(["a", "b"]), groups=[29])
    again = config.replace(verify=ss.Verify.CHAIN_ONLY)
    one, _ = pair(again, server_config("server-other", alpn=["b"]))
    assert one.alpn == "b" and one.info.group == 29


def test_of_several_credentials_the_fitting_one_is_used() -> None:
    server = ss.Config(credentials=[credential("server-rsa2048"), credential("server-p256")])
    ecdsa_only = client_config(signature_schemes=[0x0403])
    assert pair(ecdsa_only, server)[0].info.peer_scheme == 0x0403


def test_credential_comes_from_files_or_bytes_or_one_bundle() -> None:
    whole = ss.Credential(pem("server-p256") + key("server-p256"))
    apart = ss.Credential.from_files(DATA / "server-p256.pem", str(DATA / "server-p256.key"))
    locked = ss.Credential(pem("server-p256"), key("server-p256-encrypted"), password="secret")
    assert whole.certificates == apart.certificates == locked.certificates
    assert len(whole.certificates) == pem("server-p256").count(b"BEGIN CERTIFICATE")
    with pytest.raises(FileNotFoundError):
        ss.Credential.from_files(Path("missing.pem"))


@pytest.mark.parametrize(
    ("chain", "private", "password", "name"),
    [
        (b"", None, None, "ERR_NO_CERTIFICATE"),
        (pem("server-p256"), key("server-p384"), None, "ERR_KEY_MISMATCH"),
        (pem("server-p256"), key("server-p256-encrypted"), None, "ERR_PASSWORD_REQUIRED"),
        (pem("server-p256"), key("server-p256-encrypted"), "wrong", "ERR_BAD_PASSWORD"),
        (pem("server-p256").replace(b"M", b"!", 5), None, None, "ERR_PARSE"),
    ],
)
def test_credential_that_cannot_be_loaded_is_a_value_error(chain: bytes, private: bytes | None, password: str | None, name: str) -> None:
    with pytest.raises(ss.ConfigError) as caught:
        ss.Credential(chain, private, password=password)
    assert caught.value.name == name and len(str(caught.value)) > 10


def test_credential_without_a_key_is_refused_by_the_config() -> None:
    with pytest.raises(ss.ConfigError) as caught:
        ss.Config(credentials=ss.Credential(pem("server-p256")))
    assert caught.value.name == "ERR_NO_CREDENTIAL"


def test_trust_counts_its_anchors() -> None:
    assert len(ss.TrustStore()) == 0
    assert len(ss.TrustStore(pem("root"), pem("client-root"))) == 2
    assert len(ss.TrustStore(pem("root") + pem("client-root"), pem("root"))) == 2
    assert len(ss.TrustStore.from_files(DATA / "root.pem")) == 1
    with pytest.raises(ss.ConfigError):
        ss.TrustStore(b"nothing here")
    partial = ss.TrustStore(pem("intermediate"), partial_chain=True)
    assert pair(client_config(trust=partial))[0].is_verified


@pytest.mark.parametrize("name", ["", "with space.test", "x" * 64 + ".test", "nul\0.test", "ümlaut.test"])
def test_name_that_no_host_has_is_refused(name: str) -> None:
    if not name:
        stream = ss.Stream(client_config(), ss.Role.CLIENT, server_name=name)
        with pytest.raises(ss.ConfigError, match="name"):
            stream.handshake()
        return
    with pytest.raises(ss.ConfigError) as caught:
        ss.Stream(client_config(), ss.Role.CLIENT, server_name=name)
    assert caught.value.name == "ERR_BAD_HOST"


def test_one_config_serves_many_threads() -> None:
    client, server = client_config(), server_config()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            for _ in range(20):
                one = ss.Stream(client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW)
                two = ss.Stream(server, ss.Role.SERVER)
                shake(one, two)
                assert two.decrypt(one.encrypt(b"x"))[0] == b"x"
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_trust_of_a_frozen_config_is_shared() -> None:
    store = trust()
    first, second = client_config(trust=store), client_config(trust=store, alpn=["x"])
    assert pair(first)[0].is_verified and pair(second)[0].is_verified
