"""Sessions, the keys of their tickets, and caches of them."""

from __future__ import annotations

import time
from typing import Any

import pytest

import securestream as ss
from peers import NAME, NOW, Task, asking_config, client_config, connections, pair, server_config, shake, streams

VERSIONS = pytest.mark.parametrize("version", list(ss.Version))
WANTS = {"report": [ss.EventKind.SESSION]}
KEY = ss.TicketKey(b"n" * 16, b"s" * 64)


def again(client: ss.Config, server: ss.Config, session: ss.Session | None) -> bool:
    """Whether another connection resumes."""
    one = ss.Stream(client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW, session=session)
    two = streams(client, server)[1]
    shake(one, two)
    assert one.is_resumed == two.is_resumed
    assert one.is_verified and one.peer_certificates
    return one.is_resumed


def first(client: ss.Config, server: ss.Config) -> ss.Session:
    session = pair(client, server)[0].take_session()
    assert session is not None
    return session


@VERSIONS
def test_session_is_resumed_once(version: ss.Version) -> None:
    client, server = client_config(max_version=version, **WANTS), server_config()
    session = first(client, server)
    assert session.version == version
    assert abs(session.created - time.time()) < 60 and 0 <= session.created + 7200 - session.expires <= 30
    assert ss.Info(0, session.suite, 0, 0, 0, 0).suite_name.startswith("TLS_")
    assert session.max_early_data == 0
    assert again(client, server, session)
    assert not again(client, server, session)
    session.set_reusable()
    assert again(client, server, session) and again(client, server, session)


@VERSIONS
def test_session_from_bytes_is_resumed(version: ss.Version) -> None:
    client, server = client_config(max_version=version, **WANTS), server_config()
    data = first(client, server).to_bytes()
    assert again(client, server, ss.Session(memoryview(data)))
    assert ss.Session(data).to_bytes() == data


def test_session_of_damaged_bytes_is_an_error() -> None:
    data = bytearray(first(client_config(**WANTS), server_config()).to_bytes())
    data[len(data) // 2] ^= 1
    for wrong in (b"", data):
        with pytest.raises(ss.ConfigError) as caught:
            ss.Session(wrong)
        assert caught.value.name == "ERR_BAD_SESSION"


def test_client_that_does_not_ask_has_no_session() -> None:
    assert pair()[0].take_session() is None
    assert pair(client_config(**WANTS), server_config(session_tickets=0))[0].take_session() is None
    assert pair(client_config(**WANTS), server_config(session_lifetime=0))[0].take_session() is None


def test_lifetime_is_that_of_the_config() -> None:
    session = first(client_config(**WANTS), server_config(session_lifetime=60))
    assert 0 <= session.created + 60 - session.expires <= 30
    with pytest.raises(ss.ArgumentError, match="session_lifetime"):
        ss.Config(session_lifetime=604_801)


def test_server_takes_no_session() -> None:
    session = first(client_config(**WANTS), server_config())
    with pytest.raises(ss.StateError):
        ss.Stream(server_config(), ss.Role.SERVER, session=session)


def test_replaced_config_shares_the_ring() -> None:
    client, server = client_config(**WANTS), server_config()
    reloaded = server.replace(credentials=asking_config()._credentials())
    assert again(client, reloaded, first(client, server))
    assert not again(client, server_config(), first(client, server))


def test_ring_is_shared_rotated_and_replaced() -> None:
    keys = ss.TicketKeys()
    client, one, two = client_config(**WANTS), server_config(ticket_keys=keys), server_config(ticket_keys=keys)
    assert again(client, two, first(client, one))
    session = first(client, one)
    keys.rotate()
    assert again(client, two, session)
    session = first(client, one)
    keys.replace([KEY])
    assert not again(client, two, session)
    elsewhere = server_config(ticket_keys=ss.TicketKeys([KEY]))
    assert again(client, elsewhere, first(client, one))
    keys.replace([])
    assert pair(client, one)[0].take_session() is None


@pytest.mark.parametrize(
    "keys", [[KEY, KEY], [(b"n" * 15, b"s" * 65, 0)], [(b"n" * 16, b"s" * 63, 0)], [KEY._replace(name=b"")]]
)
def test_ring_of_wrong_keys_is_an_error(keys: list[Any]) -> None:
    ring = ss.TicketKeys()
    with pytest.raises(ss.ConfigError) as caught:
        ring.replace(keys)
    assert caught.value.name == "ERR_BAD_TICKET_KEYS"


def test_key_that_has_expired_opens_nothing() -> None:
    keys = ss.TicketKeys([KEY])
    client, server = client_config(**WANTS), server_config(ticket_keys=keys)
    session = first(client, server)
    keys.replace([KEY._replace(expires=int(time.time()) - 1)])
    assert not again(client, server, session)


def test_ticket_question_is_asked_and_answered() -> None:
    asked: list[bytes] = []

    def unknown(question: ss.TicketDecryption) -> None:
        asked.append(question.ticket)

    client = client_config(**WANTS)
    server = server_config(open_ticket=unknown)
    session = first(client, server_config())
    one = ss.Stream(client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW, session=session)
    two = streams(client, server)[1]
    two.handshake(one.handshake()[0])
    assert isinstance(two.question, ss.TicketDecryption)
    two.answer()
    flight, _ = two.handshake()
    finished, _ = one.handshake(flight)
    two.handshake(finished)
    assert two.is_open and not two.is_resumed
    assert len(asked) == 1 and asked[0] in session.to_bytes()


def test_cache_gives_each_session_once() -> None:
    client, server = client_config(**WANTS), server_config()
    cache, sessions = ss.SessionCache(2), [first(client, server) for _ in range(3)]
    for session in sessions:
        cache.put(NAME, session)
    assert len(cache) == 2
    assert cache.get("other.test") is None
    assert [cache.get(NAME) for _ in range(3)] == [sessions[2], sessions[1], None]
    sessions[0].set_reusable()
    cache.put(NAME, sessions[0])
    assert cache.get(NAME) is cache.get(NAME) is sessions[0]
    with pytest.raises(ValueError):
        ss.SessionCache(0)


@VERSIONS
def test_connections_use_the_cache(version: ss.Version) -> None:
    cache = ss.SessionCache()
    client, server = client_config(session_cache=cache, max_version=version), server_config()
    resumed = []
    for _ in range(3):
        with connections(client, server) as (a, b):
            b.sendall(b"hello")
            assert a.recv(10) == b"hello"
            assert a.is_resumed == b.is_resumed
            resumed.append(a.is_resumed)
    # TLS 1.2 sends no new ticket when it resumes.
    assert resumed == ([False, True, True] if version == ss.Version.TLS1_3 else [False, True, False])


def tickets_of(server: ss.Connection) -> int:
    return server.stream.output_size


def test_tickets_go_out_with_the_first_write() -> None:
    with connections(client_config(**WANTS)) as (a, b):
        assert tickets_of(b) and a.take_session() is None
        b.sendall(b"x")
        assert not tickets_of(b)
        assert a.recv(1) == b"x"
        assert a.take_session() is not None


def test_tickets_go_out_when_the_first_read_would_wait() -> None:
    with connections(client_config(**WANTS)) as (a, b):
        assert tickets_of(b)
        reader = Task(lambda: b.recv(1))
        a.settimeout(0.1)
        deadline = time.monotonic() + 10
        while (session := a.take_session()) is None and time.monotonic() < deadline:
            with pytest.raises(TimeoutError):
                a.recv(1)
        assert session is not None and not tickets_of(b)
        a.settimeout(10)
        a.sendall(b"y")
        assert reader.result() == b"y"


def test_tickets_go_out_at_close() -> None:
    with connections(client_config(**WANTS)) as (a, b):
        assert tickets_of(b)
        b.close()
        assert a.recv(1) == b""
        assert a.take_session() is not None
