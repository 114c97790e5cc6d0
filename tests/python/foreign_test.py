"""Python's own ssl (OpenSSL) as the other side, in both roles and versions."""

from __future__ import annotations

import hashlib
import random
import ssl
from typing import Any

import pytest

import securestream as ss
from peers import DATA as FILES
from peers import NAME, NOW, Task, client_config, credential, foreign_client, foreign_server, read_all, server_config, sockets, trust

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
DATA = random.Random(7).randbytes(3_000_000)


def read_foreign(sock: ssl.SSLSocket) -> bytes:
    pieces = []
    while piece := sock.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("name", ["server-p256", "server-p384", "server-rsa2048", "server-ed25519"])
def test_our_client_and_a_foreign_server(version: ssl.TLSVersion, name: str) -> None:
    context = foreign_server(version, name=name)
    context.set_alpn_protocols(["other", "echo"])

    def serve() -> tuple[Any, ...]:
        with context.wrap_socket(two, server_side=True, suppress_ragged_eofs=False) as peer:
            data = b""
            while len(data) < len(DATA):
                data += peer.recv(65536)
            peer.sendall(data)
            facts = peer.version(), peer.selected_alpn_protocol(), hashlib.sha256(data).digest()
            peer.unwrap()
            return facts

    with sockets() as (one, two):
        task = Task(serve)
        with ss.Connection.client(one, client_config(alpn=["echo"]), NAME, verify_time=NOW) as client:
            client.handshake()
            assert client.stream.is_verified and client.stream.alpn == "echo"
            writer = Task(lambda: client.sendall(DATA))
            assert read_exactly(client, len(DATA)) == DATA
            writer.result()
            client.close_write()
            assert client.recv(1) == b""
        spoken = "TLSv1.3" if version == ssl.TLSVersion.TLSv1_3 else "TLSv1.2"
        assert task.result() == (spoken, "echo", hashlib.sha256(DATA).digest())


def read_exactly(connection: ss.Connection, size: int) -> bytes:
    room = bytearray(size)
    view = memoryview(room)
    while view:
        got = connection.recv_into(view)
        assert got, "the end came early"
        view = view[got:]
    return bytes(room)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("name", ["server-p256", "server-p384", "server-rsa2048", "server-ed25519"])
def test_our_server_and_a_foreign_client(version: ssl.TLSVersion, name: str) -> None:
    context = foreign_client(version)

    def talk() -> bytes:
        with context.wrap_socket(one, server_hostname=NAME, suppress_ragged_eofs=False) as peer:
            peer.sendall(DATA)
            back = b""
            while len(back) < len(DATA):
                back += peer.recv(65536)
            peer.unwrap()
            return back

    with sockets() as (one, two):
        task = Task(talk)
        with ss.Connection.server(two, server_config(name)) as server:
            data = read_exactly(server, len(DATA))
            server.sendall(data)
            assert server.stream.server_name == NAME
            assert read_all(server) == b""
        assert data == DATA == task.result()


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_client_certificate_is_taken_by_a_foreign_server(version: ssl.TLSVersion) -> None:
    def serve() -> Any:
        with foreign_server(version, "client-root").wrap_socket(two, server_side=True) as peer:
            peer.sendall(peer.recv(100))
            return peer.getpeercert()

    with sockets() as (one, two):
        task = Task(serve)
        client = ss.Connection.client(one, client_config(credentials=credential("client-p256")), NAME, verify_time=NOW)
        client.sendall(b"who am I")
        assert client.recv(100) == b"who am I"
        subject = task.result()["subject"]
        assert "client-p256" in str(subject)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_client_certificate_of_a_foreign_client_is_taken(version: ssl.TLSVersion) -> None:
    context = foreign_client(version)
    context.load_cert_chain(FILES / "client-p384.pem", FILES / "client-p384.key")

    def talk() -> bytes:
        with context.wrap_socket(one, server_hostname=NAME) as peer:
            peer.sendall(b"here I am")
            return peer.recv(100)

    with sockets() as (one, two):
        task = Task(talk)
        config = server_config(trust=trust("client-root"), client_certificate=ss.ClientCertificate.REQUIRE)
        server = ss.Connection.server(two, config, verify_time=NOW)
        assert server.recv(100) == b"here I am"
        server.sendall(b"welcome")
        assert task.result() == b"welcome"
        assert server.stream.is_verified and server.stream.peer_certificates


def test_refusal_of_a_foreign_server_is_an_alert() -> None:
    """A01, with the refusal made by somebody else."""
    with sockets() as (one, two):
        context = foreign_server(ssl.TLSVersion.TLSv1_3, "client-root")
        task = Task(lambda: context.wrap_socket(two, server_side=True))
        client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
        client.handshake()
        assert isinstance(task.error(), ssl.SSLError)
        with pytest.raises(ss.AlertError, match="certificate_required"):
            client.sendall(b"data")


# In TLS 1.3 OpenSSL's client sends this alert unencrypted.
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_foreign_client_that_does_not_trust_us_tells_why(version: ssl.TLSVersion) -> None:
    with sockets() as (one, two):
        context = foreign_client(version, ca="untrusted-root")
        task = Task(lambda: context.wrap_socket(one, server_hostname=NAME))
        server = ss.Connection.server(two, server_config())
        with pytest.raises(ss.AlertError, match="unknown_ca"):
            server.handshake()
        assert isinstance(task.error(), ssl.SSLCertVerificationError)


def test_foreign_peer_that_leaves_without_a_word_is_a_truncation() -> None:
    with sockets() as (one, two):

        def serve() -> None:
            peer = foreign_server().wrap_socket(two, server_side=True)
            peer.sendall(b"not all")
            peer.shutdown(2)
            peer.close()

        task = Task(serve)
        client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
        assert client.recv(100) == b"not all"
        with pytest.raises(ss.TruncatedError):
            client.recv(100)
        task.result()


def test_plain_text_is_not_tls() -> None:
    with sockets() as (one, two):
        two.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
        with pytest.raises(ss.ProtocolError) as caught:
            client.handshake()
        assert caught.value.name == "ERR_NOT_TLS"
