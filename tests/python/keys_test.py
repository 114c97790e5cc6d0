"""Keying material, channel bindings, and what a server staples."""

from __future__ import annotations

import hashlib
import ssl

import pytest

import securestream as ss
from peers import NAME, NOW, Task, client_config, credential, foreign_client, foreign_server, pair, refused, server_config, sockets, streams

VERSIONS = [ss.Version.TLS1_2, ss.Version.TLS1_3]
RESPONSE = b"\x30\x03\x0a\x01\x03"  # its shape is all that counts
SCTS = b"\0\7\0\2ab\0\1c"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("context", [None, b"", bytearray(b"context"), memoryview(bytes(65535))], ids=["none", "empty", "some", "much"])
def test_both_ends_export_the_same(version: ss.Version, context: bytes | None) -> None:
    client, server = pair(client_config(max_version=version))
    for length in (0, 1, 32, 8160):
        key = client.export_key("EXPERIMENTAL test", context, length)
        assert len(key) == length
        assert server.export_key(b"EXPERIMENTAL test", context, length) == key


@pytest.mark.parametrize("version", VERSIONS)
def test_empty_context_is_none_in_tls13_alone(version: ss.Version) -> None:
    client, _ = pair(client_config(max_version=version))
    none, empty = client.export_key("l", None, 32), client.export_key("l", b"", 32)
    assert (none == empty) == (version == ss.Version.TLS1_3)
    assert client.export_key("l", bytearray(), 32) == empty


def test_export_key_refuses_wrong_arguments() -> None:
    client, _ = pair()
    for label, context, length in [("", None, 1), ("l" * 250, None, 1), ("l", bytes(65536), 1), ("l", None, 8161), ("master secret", None, 1)]:
        with pytest.raises(ss.ArgumentError):
            client.export_key(label, context, length)
    with pytest.raises(ValueError):
        client.export_key("l", None, -1)
    with pytest.raises(TypeError):
        client.export_key("l", "text", 1)  # type: ignore[arg-type]


def test_nothing_before_the_handshake() -> None:
    client, _ = streams()
    with pytest.raises(ss.StateError):
        client.export_key("l", None, 1)
    with pytest.raises(ss.StateError):
        client.channel_binding()
    with pytest.raises(ss.StateError):
        client.traffic_secret(ss.Direction.SEND)
    assert client.ocsp_response is None and client.scts is None


@pytest.mark.parametrize("version", VERSIONS)
def test_bindings_of_both_ends(version: ss.Version) -> None:
    client, server = pair(client_config(max_version=version))
    exporter = client.channel_binding()
    assert exporter == client.export_key("EXPORTER-Channel-Binding", b"", 32) == server.channel_binding("tls-exporter")
    leaf = hashlib.sha256(client.peer_certificates[0]).digest()
    assert client.channel_binding("tls-server-end-point") == leaf == server.channel_binding("tls-server-end-point")
    if version == ss.Version.TLS1_2:
        assert len(client.channel_binding("tls-unique")) == 12
        assert client.channel_binding("tls-unique") == server.channel_binding("tls-unique")
    else:
        with pytest.raises(ss.UnsupportedError):
            client.channel_binding("tls-unique")
    with pytest.raises(ValueError, match="tls-exporter"):
        client.channel_binding("tls-other")


def test_tls_unique_is_that_of_openssl() -> None:
    """In both roles."""
    context = foreign_server(ssl.TLSVersion.TLSv1_2)

    def serve() -> bytes | None:
        with context.wrap_socket(two, server_side=True) as peer:
            peer.send(b"x")
            return peer.get_channel_binding("tls-unique")

    with sockets() as (one, two):
        task = Task(serve)
        with ss.Connection.client(one, client_config(), NAME, verify_time=NOW) as client:
            assert client.recv(1) == b"x"
            assert client.stream.channel_binding("tls-unique") == task.result()

    def connect() -> bytes | None:
        with foreign_client(ssl.TLSVersion.TLSv1_2).wrap_socket(two, server_hostname=NAME) as peer:
            peer.send(b"x")
            return peer.get_channel_binding("tls-unique")

    with sockets() as (one, two):
        task = Task(connect)
        with ss.Connection.server(one, server_config(), verify_time=NOW) as server:
            assert server.recv(1) == b"x"
            assert server.stream.channel_binding("tls-unique") == task.result()


def test_traffic_secrets_follow_key_updates() -> None:
    client, server = pair()
    before = client.traffic_secret(ss.Direction.SEND)
    assert len(before) == 32 and before == server.traffic_secret(ss.Direction.RECEIVE)
    client.key_update()
    assert client.traffic_secret(ss.Direction.SEND) != before
    assert server.traffic_secret(ss.Direction.RECEIVE) == before  # the message is still on its way


def test_traffic_secrets_are_unsupported_in_tls12() -> None:
    client, _ = pair(client_config(max_version=ss.Version.TLS1_2))
    with pytest.raises(ss.UnsupportedError):
        client.traffic_secret(ss.Direction.SEND)


# What is stapled


def stapling(name: str = "server-p256") -> ss.Config:
    given = credential(name)
    given.set_ocsp_response(RESPONSE)
    given.set_scts(SCTS)
    return ss.Config(credentials=[given])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["server-p256", "refused/staple"])
def test_client_sees_what_is_stapled(version: ss.Version, name: str) -> None:
    client, server = pair(client_config(max_version=version), stapling(name))
    assert (client.ocsp_response, client.scts) == (RESPONSE, SCTS)
    assert (server.ocsp_response, server.scts) == (None, None)


def test_must_staple_is_enforced() -> None:
    error = refused(client_config(), server_config("refused/staple"))
    assert error.name == "ERR_CERT_STAPLE_MISSING"


def test_what_cannot_be_stapled_is_refused() -> None:
    given = credential()
    with pytest.raises(ss.ConfigError) as response:
        given.set_ocsp_response(b"junk")
    assert response.value.name == "ERR_PARSE"
    with pytest.raises(ss.ConfigError) as scts:
        given.set_scts(b"junk")
    assert scts.value.name == "ERR_PARSE"
    given.set_scts(b"")
    ss.Config(credentials=[given])
    with pytest.raises(ss.FrozenError):
        given.set_ocsp_response(RESPONSE)
