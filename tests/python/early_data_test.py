"""0-RTT over connections and streams: nothing comes twice, and what is early is told from what is not."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import securestream as ss
from peers import NAME, NOW, Task, client_config, server_config, shake, sockets, streams

LIMIT = 14336


class Early:
    """Configs of a client and a server, with a session."""

    def __init__(self, server: dict[str, Any] | None = None, **client: Any) -> None:
        self.cache = ss.SessionCache()
        self.client = client_config(session_cache=self.cache, early_data=True, **client)
        self.server = server_config(**{"early_data": True, **(server or {})})
        one, two = streams(self.client, self.server)
        shake(one, two)
        session = one.take_session()
        assert session is not None and session.max_early_data == LIMIT
        self.session = session
        self.cache.put(NAME, session)

    @contextmanager
    def connections(self) -> Iterator[tuple[ss.Connection, ss.Connection]]:
        with sockets() as (one, two):
            yield (
                ss.Connection.client(one, self.client, NAME, verify_time=NOW),
                ss.Connection.server(two, self.server, verify_time=NOW),
            )


def everything(connection: ss.Connection, size: int) -> tuple[bytes, list[bool]]:
    """So many bytes, and which of the reads were early."""
    data, early = b"", []
    while len(data) < size:
        part = connection.recv(size - len(data))
        assert part
        data += part
        early.append(connection.is_early)
    return data, early


def test_early_data_is_taken_and_answered_before_the_handshake_is_confirmed() -> None:
    with Early().connections() as (a, b):
        client = Task(lambda: a.handshake(b"early"))
        assert everything(b, 5) == (b"early", [True])
        b.sendall(b"answer")
        client.result()
        assert a.early_data_accepted == 5 and a.is_resumed
        assert everything(a, 6) == (b"answer", [False])
        a.sendall(b"later")
        assert everything(b, 5) == (b"later", [False])
        assert b.stream.early_data_accepted and b.early_data_accepted == 0
        a.close()
        assert b.recv(1) == b""


@pytest.mark.parametrize("size", [1, LIMIT, LIMIT + 1, 50_000])
def test_caller_sends_what_was_not_accepted(size: int) -> None:
    data = bytes(i % 251 for i in range(size))
    with Early().connections() as (a, b):
        client = Task(lambda: a.handshake(data))
        b.handshake()
        client.result()
        assert a.early_data_accepted == min(size, LIMIT)
        sender = Task(lambda: a.sendall(data[a.early_data_accepted :]))
        assert everything(b, size)[0] == data
        sender.result()


@pytest.mark.parametrize("why", ["early data is off", "retry", "other keys", "no session"])
def test_refused_data_comes_once_when_the_caller_sends_it_again(why: str) -> None:
    early = Early(groups=[29, 23])
    if why == "early data is off":
        early.server = early.server.replace(early_data=False)
    elif why == "retry":
        early.server = early.server.replace(groups=[23])
    elif why == "other keys":
        early.server = early.server.replace(ticket_keys=ss.TicketKeys())
    else:
        early.cache.get(NAME)
    with early.connections() as (a, b):
        client = Task(lambda: a.handshake(b"request"))
        b.handshake()
        client.result()
        assert a.early_data_accepted == 0
        a.sendall(b"request"[a.early_data_accepted :])
        a.close_write()
        assert everything(b, 7) == (b"request", [False])
        assert b.recv(1) == b""


def test_connect_sends_early_data() -> None:
    early = Early()
    with ss.listen(("127.0.0.1", 0), early.server, verify_time=NOW) as listener:

        def serve() -> tuple[bytes, bool]:
            connection, _ = listener.accept()
            with connection:
                got, is_early = connection.recv(100), connection.is_early
                connection.sendall(got.upper())
                assert connection.recv(1) == b""
            return got, is_early

        server = Task(serve)
        with ss.connect(
            listener.address, early.client, server_name=NAME, timeout=10, verify_time=NOW, early_data=b"get"
        ) as connection:
            assert connection.early_data_accepted == 3
            assert connection.recv(100) == b"GET"
        assert server.result() == (b"get", True)


def test_server_that_closes_before_the_confirmation_says_goodbye() -> None:
    with Early().connections() as (a, b):
        client = Task(lambda: a.handshake(b"early"))
        assert everything(b, 5) == (b"early", [True])
        b.sendall(b"answer")
        closing = Task(b.close)
        client.result()
        assert everything(a, 6)[0] == b"answer"
        assert a.recv(1) == b""
        closing.result()


def test_end_of_the_transport_before_the_confirmation_is_an_error() -> None:
    early = Early()
    one = ss.Stream(early.client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW, session=early.session)
    with sockets() as (mine, theirs):
        mine.sendall(one.handshake()[0] + one.encrypt(b"early"))
        mine.shutdown(socket.SHUT_WR)
        b = ss.Connection.server(theirs, early.server, verify_time=NOW)
        assert everything(b, 5) == (b"early", [True])
        with pytest.raises(ss.HandshakeEOFError):
            b.recv(1)


def test_writer_and_reader_share_an_early_server() -> None:
    with Early().connections() as (a, b):
        client = Task(lambda: a.handshake(b"early"))
        assert everything(b, 5) == (b"early", [True])
        size = 2_000_000
        writer = Task(lambda: b.sendall(bytes(size)))
        reader = Task(lambda: everything(b, 5))
        client.result()
        a.sendall(b"later")
        assert everything(a, size)[0] == bytes(size)
        writer.result()
        assert reader.result() == (b"later", [False])


def test_stream_counts_what_is_left() -> None:
    early = Early()
    stream = ss.Stream(early.client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW, session=early.session)
    assert stream.early_data_left == 0
    stream.handshake()
    assert stream.early_data_left == LIMIT
    stream.encrypt(b"early")
    assert stream.early_data_left == LIMIT - 5
    with pytest.raises(ss.StateError):
        stream.encrypt(bytes(LIMIT - 4))


def test_stream_stops_for_refused_data() -> None:
    early = Early()
    client = ss.Stream(early.client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW, session=early.session)
    server = streams(early.client, early.server.replace(early_data=False))[1]
    hello = client.handshake()[0] + client.encrypt(b"early")
    flight, _ = server.handshake(hello)
    client.handshake(flight)
    assert client.question == ss.EarlyDataRetry()
    client.answer()
    finished, _ = client.handshake()
    assert client.is_open and not client.early_data_accepted and client.is_resumed
    server.handshake(finished)
    assert server.is_open
