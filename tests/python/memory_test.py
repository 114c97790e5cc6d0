"""M01: connections that fail leak nothing, neither in the library nor in Python."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest

import securestream as ss
from peers import client_config, connections, live_objects, pair, server_config, sockets, streams, trust

COUNT = 100
CLIENT = client_config()
SERVER = server_config()
OTHER = server_config("server-other")
STRICT = server_config(trust=trust("client-root"), client_certificate=ss.ClientCertificate.REQUIRE)


def eof_in_handshake() -> None:
    client, _ = streams(CLIENT, SERVER)
    client.handshake()
    client.input_eof()
    with pytest.raises(ss.HandshakeEOFError):
        client.handshake()


def garbage() -> None:
    _, server = streams(CLIENT, SERVER)
    with pytest.raises(ss.ProtocolError):
        server.handshake(b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00")


def not_tls() -> None:
    _, server = streams(CLIENT, SERVER)
    with pytest.raises(ss.ProtocolError):
        server.handshake(b"GET / HTTP/1.1\r\n\r\n")


def bad_certificate() -> None:
    client, server = streams(CLIENT, OTHER)
    with pytest.raises(ss.CertificateError):
        client.handshake(server.handshake(client.handshake()[0])[0])


def missing_client_certificate() -> None:
    client, server = streams(CLIENT, STRICT)
    flight, _ = client.handshake(server.handshake(client.handshake()[0])[0])
    with pytest.raises(ss.ProtocolError):
        server.handshake(flight)


def freed_before_the_handshake() -> None:
    streams(CLIENT, SERVER)


def freed_in_the_handshake() -> None:
    client, server = streams(CLIENT, SERVER)
    server.handshake(client.handshake()[0])


def freed_in_a_write() -> None:
    client, server = pair(CLIENT, SERVER)
    client.encrypt_into(bytes(100_000), bytearray(20_000))
    server.decrypt_into(client.encrypt(bytes(1000))[:500], bytearray(10))


def refused_over_sockets() -> None:
    with connections(CLIENT, SERVER, shaken=False) as (client, server), sockets() as (other, _):
        server._socket.close()
        with pytest.raises((ss.HandshakeEOFError, ConnectionError)):
            client.handshake()
        other.close()


def failing_config() -> None:
    with pytest.raises(ss.ConfigError):
        client_config(groups=[29, 29])


WAYS: list[Callable[[], None]] = [
    eof_in_handshake, garbage, not_tls, bad_certificate, missing_client_certificate, freed_before_the_handshake,
    freed_in_the_handshake, freed_in_a_write, refused_over_sockets, failing_config,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_failed_connections_leak_nothing(way: Callable[[], None]) -> None:
    def measure() -> tuple[int, int]:
        return live_objects(), ss.allocated_bytes()

    for _ in range(3):
        way()
    objects, allocated = measure()
    for _ in range(COUNT):
        way()
    assert measure() == (objects, allocated)

    tracemalloc.start()
    try:
        for _ in range(3):
            way()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(COUNT):
            way()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < COUNT * 40, f"{grown} bytes of Python objects were left"


def test_nothing_needs_the_collector() -> None:
    """No cycle: what is dropped is gone at once."""
    gc.collect()
    gc.disable()
    try:
        before = ss.live_objects()
        for way in WAYS:
            if way not in (refused_over_sockets,):
                way()
        pair()
        assert ss.live_objects() == before
    finally:
        gc.enable()
