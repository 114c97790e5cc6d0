"""Connections: threads, the end, and whole transports."""

from __future__ import annotations

import socket
import time
from functools import partial
from typing import Any

import pytest

import securestream as ss
from peers import NAME, NOW, Task, client_config, connections, read_all, server_config, sockets


def test_reader_beside_writer() -> None:
    """T02: the peer answers only when it has all, and sends KeyUpdates in between."""
    messages = 1000
    with connections() as (client, server):

        def peer() -> None:
            got = updates = 0
            while got < messages * 4096:
                got += len(server.recv(65536))
                if got % 7 == 0 and updates < 32:  # more of them without data between are a flood
                    server.key_update(request_peer=True)
                    updates += 1
            server.sendall(b"all of it")
            server.close_write()

        def write() -> None:
            for number in range(messages):
                client.sendall(number.to_bytes(2, "big") * 2048)

        tasks = [Task(peer), Task(write)]
        reader = Task(lambda: read_all(client))
        assert reader.result(10) == b"all of it"
        for task in tasks:
            task.result(10)


def test_reader_alone_answers_a_key_update() -> None:
    """R03: the answer goes out without any write call."""
    with connections() as (client, server):
        server.key_update(request_peer=True)
        server.sendall(b"x")
        assert client.recv(1) == b"x"
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.recv(1)
        assert server.stream.counter(ss.Counter.KEY_UPDATES_RECEIVED) == 1


def test_many_threads_on_one_side_take_turns() -> None:
    with connections() as (client, server):

        def write(mark: int) -> None:
            for _ in range(50):
                client.sendall(bytes([mark]) * 1000)

        tasks = [Task(partial(write, mark)) for mark in range(4)]
        got = bytearray()
        while len(got) < 200_000:
            got += server.recv(65536)
        for task in tasks:
            task.result()
        assert sorted(got[::1000]) == sorted(bytes(range(4)) * 50), "each message in one piece"


def test_close_wakes_a_reader_and_ends_its_wait() -> None:
    with connections(timeout=None) as (client, server):
        reader = Task(lambda: client.recv(10))
        time.sleep(0.1)
        client.close()
        assert isinstance(reader.error(5), (ss.SecureStreamError, OSError))
        assert server.recv(10) == b"", "the peer sees a clean end"
        client.close()


def test_close_does_not_wait_for_ever_for_a_peer_that_does_not_read() -> None:
    with connections(timeout=0.1) as (client, _):
        with pytest.raises(TimeoutError):
            while True:
                client.sendall(bytes(100_000))
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 3


def test_with_block_closes_cleanly_and_aborts_after_an_exception() -> None:
    with connections() as (client, server):
        with client:
            client.sendall(b"whole")
        assert read_all(server) == b"whole"
    with connections() as (client, server):
        with pytest.raises(KeyError), client:
            client.sendall(b"half")
            raise KeyError
        assert server.recv(10) == b"half"
        with pytest.raises(ss.AlertError) as caught:
            server.recv(10)
        assert caught.value.alert == 80


def test_failed_send_tells_the_alert_that_came() -> None:
    """When the socket breaks, what the peer said before is the reason."""
    with connections() as (client, server):
        server.abort(40)
        with pytest.raises((ss.AlertError, ConnectionError)):
            for _ in range(100):
                client.sendall(bytes(100_000))
                time.sleep(0.01)
        with pytest.raises(ss.AlertError, match="handshake_failure"):
            client.recv(10)


def test_flights_go_out_in_one_write_and_without_delay() -> None:
    class Counting(socket.socket):
        writes = 0

        def send(self, *args: Any) -> int:
            Counting.writes += 1
            return super().send(*args)

    with sockets() as (one, two):
        counted = Counting(fileno=two.detach())
        counted.settimeout(10)
        with counted:
            client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
            server = ss.Connection.server(counted, server_config("server-rsa4096"))
            task = Task(server.handshake)
            client.handshake()
            task.result()
            assert Counting.writes == 1, "the server's flight"
            assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert counted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_refused_peer_reads_why() -> None:
    with connections(server=server_config("server-other"), shaken=False) as (client, server):
        task = Task(server.handshake)
        with pytest.raises(ss.CertificateError, match="server.test"):
            client.handshake()
        client.close()
        assert isinstance(task.error(), ss.AlertError)


def test_connect_and_listen_over_tcp() -> None:
    with ss.listen(("127.0.0.1", 0), server_config(alpn=["echo"])) as listener:

        def serve() -> None:
            connection, address = listener.accept()
            assert address[0] == "127.0.0.1"
            with connection:
                while data := connection.recv(1000):
                    connection.sendall(data)

        task = Task(serve)
        with ss.connect(listener.address, client_config(alpn=["echo"]), timeout=10, verify_time=NOW) as client:
            assert client.stream.is_verified, "by the IP address in the certificate"
            assert client.stream.alpn == "echo" and client.gettimeout() == 10
            assert client.getpeername() == listener.address and client.fileno() >= 0
            client.sendall(b"over TCP")
            assert client.recv(100) == b"over TCP"
        task.result()
        assert client.fileno() == -1


def test_connect_that_fails_leaves_no_socket_open() -> None:
    with ss.listen(("127.0.0.1", 0), server_config()) as listener:
        accepted: list[ss.Connection] = []

        def serve() -> None:
            connection, _ = listener.accept()
            accepted.append(connection)
            connection.handshake()

        task = Task(serve)
        with pytest.raises(ss.CertificateError):
            ss.connect(listener.address, client_config(), server_name="wrong.test", timeout=10, verify_time=NOW)
        assert isinstance(task.error(), ss.AlertError)
        accepted[0].close()
    with pytest.raises(ConnectionRefusedError):
        ss.connect(listener_address(), client_config(), timeout=10)
    with pytest.raises(ss.ConfigError):
        ss.listen(("127.0.0.1", 0), ss.Config())


def listener_address() -> tuple[str, int]:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address: tuple[str, int] = closed.getsockname()
    return address


def test_unix_sockets_work_too() -> None:
    one, two = socket.socketpair()
    with one, two:
        client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
        server = ss.Connection.server(two, server_config())
        task = Task(lambda: server.recv(10))
        client.sendall(b"local")
        assert task.result() == b"local"


