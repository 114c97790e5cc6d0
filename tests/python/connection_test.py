"""Connections over real sockets: reading, writing, waiting, closing, and two threads at once."""

from __future__ import annotations

import array
import mmap
import random
import socket
import time
from typing import Any

import pytest

import securestream as ss
from peers import NAME, NOW, Task, client_config, connections, read_all, server_config, sockets, streams


@pytest.mark.parametrize("size", [1, 100, 16384, 16385, 1_000_000, 10_000_000])
def test_data_arrives_whole(size: int) -> None:
    data = random.Random(size).randbytes(size)
    with connections() as (client, server):
        task = Task(lambda: read_all(server))
        client.sendall(data)
        client.close_write()
        assert task.result() == data
        task = Task(lambda: read_all(client))
        server.sendall(data)
        server.close()
        assert task.result() == data
        client.close()


def test_handshake_is_done_by_the_first_call_that_needs_it() -> None:
    with connections(shaken=False) as (client, server):
        task = Task(lambda: server.recv(100))
        client.send(b"hello")
        assert task.result() == b"hello"
        client.handshake()
        assert client.stream.is_verified and NAME == server.stream.server_name


def test_two_threads_that_begin_at_once_shake_hands_once() -> None:
    with connections(shaken=False) as (client, server):
        reader, writer = Task(lambda: client.recv(5)), Task(lambda: client.sendall(b"hello"))
        assert server.recv(5) == b"hello"
        server.sendall(b"world")
        assert reader.result() == b"world"
        writer.result()


@pytest.mark.parametrize("kind", [bytearray, lambda size: memoryview(bytearray(size)), lambda size: array.array("B", bytes(size)),
                                  lambda size: array.array("I", bytes(size)), lambda size: mmap.mmap(-1, size),
                                  lambda size: memoryview(bytearray(size)).cast("B", (2, size // 2))],
                         ids=["bytearray", "memoryview", "array", "array of int", "mmap", "matrix"])
def test_recv_into_writes_the_real_bytes(kind: Any) -> None:
    """V06."""
    with connections() as (client, server):
        target = kind(1024)
        client.sendall(b"real bytes")
        assert server.recv_into(target) == 10
        assert memoryview(target).tobytes()[:10] == b"real bytes"
        client.sendall(b"again")
        assert server.recv_into(target, 3) == 3
        assert memoryview(target).tobytes()[:10] == b"agal bytes"
        assert server.pending() == 2
        assert server.recv(100) == b"in"


@pytest.mark.parametrize("target", [b"bytes", memoryview(b"view"), memoryview(bytearray(64))[::2], "text", None])
def test_recv_into_refuses_what_it_cannot_write_and_takes_nothing(target: Any) -> None:
    """V06."""
    with connections() as (client, server):
        client.sendall(b"data")
        with pytest.raises((TypeError, BufferError)):
            server.recv_into(target)
        with pytest.raises(ValueError):
            server.recv_into(bytearray(5), -1)
        with pytest.raises(ValueError):
            server.recv(-1)
        assert server.recv(100) == b"data"


def test_nothing_is_not_the_end() -> None:
    """R04 (d)."""
    with connections() as (client, server):
        assert client.send(b"") == 0
        client.sendall(b"")
        assert server.recv(0) == b""
        assert server.recv_into(bytearray()) == 0
        assert server.recv_into(bytearray(5), 0) == 0
        client.sendall(b"still open")
        assert server.recv(100) == b"still open"


def test_reads_of_all_sizes_give_all_bytes() -> None:
    data = random.Random(3).randbytes(300_000)
    sizes = random.Random(4)
    with connections() as (client, server):
        task = Task(lambda: client.sendall(data))
        got = bytearray()
        while len(got) < len(data):
            if sizes.random() < 0.5:
                got += server.recv(sizes.choice([1, 100, 5000, 20_000, 100_000]))
            else:
                room = bytearray(sizes.choice([1, 100, 5000, 20_000, 100_000]))
                got += room[: server.recv_into(room)]
        task.result()
        assert got == data


def test_half_close_leaves_the_other_direction() -> None:
    """C02."""
    with connections() as (client, server):
        client.sendall(b"req")
        client.close_write()
        client.close_write()
        assert read_all(server) == b"req"
        assert server.recv(10) == b"", "the end stays the end"
        with pytest.raises(ss.ClosedError):
            client.send(b"late")
        task = Task(lambda: server.sendall(bytes(49152)))
        got = 0
        while got < 49152:
            got += len(client.recv(10_000))
        task.result()
        server.close_write()
        assert client.recv(10) == b""


def test_unwrap_gives_the_socket_and_what_came_behind() -> None:
    with connections() as (client, server):
        task = Task(server.unwrap)
        client.close_write()
        plain, rest = task.result()
        assert rest == b""
        plain.sendall(b"plain text")
        sock, rest = client.unwrap()
        if len(rest) < 10:
            rest += sock.recv(100)
        assert rest == b"plain text"
        sock.sendall(b"and back")
        assert plain.recv(100) == b"and back"


def test_unwrap_before_the_data_is_read_is_a_state_error() -> None:
    with connections() as (client, server):
        client.sendall(b"unread")
        client.close_write()
        with pytest.raises(ss.StateError, match="read to its end"):
            server.unwrap()
        assert read_all(server) == b"unread"


def test_bytes_read_before_the_upgrade_go_to_the_handshake() -> None:
    """V15 (a)."""
    with sockets() as (one, two):
        client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
        task = Task(client.handshake)
        early = two.recv(50)
        server = ss.Connection(two, ss.Stream(server_config(), ss.Role.SERVER), received=early)
        server.handshake()
        task.result()
        client.sendall(b"data")
        assert server.recv(10) == b"data"


def test_transport_that_ends_without_close_notify_is_truncated_after_its_data() -> None:
    """V04."""
    client, server = streams()
    with sockets() as (one, two):
        connection = ss.Connection(one, client)
        task = Task(connection.handshake)
        while not server.is_open:
            two.sendall(server.handshake(two.recv(65536))[0])
        task.result()
        body = bytes(40_000)
        two.sendall(server.encrypt(body) + server.close()[:3])
        two.close()
        got = b""
        while len(got) < len(body):
            got += connection.recv(65536)
        assert got == body
        for _ in range(2):
            with pytest.raises(ss.TruncatedError) as caught:
                connection.recv(10)
            assert isinstance(caught.value, EOFError)


def test_timeout_is_that_of_the_socket_and_nothing_is_lost() -> None:
    with connections() as (client, server):
        server.settimeout(0.05)
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            server.recv(10)
        assert 0.04 < time.monotonic() - began < 2
        client.sendall(b"late")
        server.settimeout(10)
        assert server.recv(10) == b"late"


def test_handshake_that_times_out_can_go_on() -> None:
    with connections(shaken=False) as (client, server):
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.handshake()
        server.settimeout(10)
        task = Task(server.handshake)
        client.handshake()
        task.result()
        assert server.stream.is_open


def test_writer_that_times_out_leaves_the_stream_whole() -> None:
    """What the socket has not taken goes out first with the next call: no record is torn, no byte sent twice."""
    data = random.Random(5).randbytes(8_000_000)
    with connections() as (client, server):
        client.settimeout(0.05)
        sent = 0
        with pytest.raises(TimeoutError):
            while True:
                sent += client.send(data[sent : sent + 50_000])
        client.settimeout(10)
        task = Task(lambda: read_all(server))
        client.sendall(data[sent:])
        client.close_write()
        assert task.result() == data


def test_without_waiting_both_sides_get_all_through() -> None:
    data = random.Random(6).randbytes(2_000_000)
    with connections(timeout=0, shaken=False) as (client, server):
        shaken = {client: False, server: False}
        while not all(shaken.values()):
            for side in shaken:
                try:
                    side.handshake()
                    shaken[side] = True
                except BlockingIOError:
                    pass
        sent, got = 0, bytearray()
        while len(got) < len(data):
            try:
                sent += client.send(data[sent:])
            except BlockingIOError:
                pass
            try:
                got += server.recv(100_000)
            except BlockingIOError:
                pass
            if sent == len(data):
                client.send(b"")
                try:
                    client.recv(1)
                except BlockingIOError:
                    pass
        assert got == data
