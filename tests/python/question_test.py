"""What a handshake stops for, and who answers: the functions of a config, a credential's signer, the user of a stream."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
import signer_test

import securestream as ss
from peers import (
    NAME,
    NOW,
    Task,
    asking_config,
    client_config,
    connections,
    credential,
    der_chain,
    live_objects,
    pem,
    server_config,
    sockets,
    streams,
)
from signer_test import P256, Signer


def both_shake(client: ss.Connection, server: ss.Connection) -> None:
    other = Task(server.handshake)
    client.handshake()
    other.result()


# Which config


def test_config_is_chosen_by_the_name_that_the_client_sent() -> None:
    seen: list[ss.ClientHello] = []
    chosen = server_config("server-p384", alpn=["x"])

    def select(hello: ss.ClientHello) -> ss.Config | None:
        seen.append(hello)
        return chosen if hello.server_name == "b.test" else None

    server = server_config(select_config=select, alpn=["h2"])
    client = client_config(alpn=["h2", "x"], max_version=ss.Version.TLS1_2)
    for name, leaf, protocol in ("b.test", "server-p384", "x"), (NAME, "server-p256", "h2"):
        with sockets() as (one, two):
            a = ss.Connection.client(one, client, name, verify_name=NAME, verify_time=NOW)
            b = ss.Connection.server(two, server, verify_time=NOW)
            with a, b:
                both_shake(a, b)
                assert a.peer_certificates == der_chain(leaf)
                assert (b.stream.alpn, b.stream.server_name) == (protocol, name)
    hello = seen[0]
    assert (hello.server_name, hello.alpn, hello.versions) == ("b.test", ("h2", "x"), (ss.Version.TLS1_2,))
    assert 0xC02B in hello.suites and 29 in hello.groups and P256 in hello.schemes
    assert hello.extension(16) == b"\x00\x05\x02h2\x01x" and hello.extension(41) == b""
    assert hello.message[:2] == b"\x03\x03"


def test_listener_with_a_choice_needs_no_credential() -> None:
    config = ss.Config(select_config=lambda hello: server_config("server-p384"))
    with ss.listen(("127.0.0.1", 0), config, verify_time=NOW) as listener:
        connect = Task(lambda: ss.connect(listener.address, client_config(), server_name=NAME, verify_time=NOW))
        server, _ = listener.accept()
        with server:
            server.handshake()
            with connect.result() as client:
                assert client.peer_certificates == der_chain("server-p384")


def test_chosen_config_asks_its_own_questions() -> None:
    chosen = asking_config(verify_peer=lambda peer: True, select_credential=lambda request: credential("server-p384"))
    server = ss.Config(select_config=lambda hello: chosen, verify_peer=lambda peer: False)
    with connections(client_config(credentials=credential("client-untrusted")), server) as (a, b):
        assert a.peer_certificates == der_chain("server-p384")
        assert b.peer_certificates == der_chain("client-untrusted") and not b.stream.is_verified


def test_choice_that_raises_turns_the_client_away_and_is_raised() -> None:
    class NotOurs(Exception):
        pass

    def select(hello: ss.ClientHello) -> ss.Config:
        raise NotOurs(hello.server_name)

    with connections(server=ss.Config(select_config=select), shaken=False) as (a, b):
        other = Task(b.handshake)
        with pytest.raises(ss.AlertError) as refused:
            a.handshake()
        assert refused.value.alert == 112
        assert isinstance(other.error(), NotOurs)


def test_choice_of_an_unusable_config_is_raised() -> None:
    with connections(server=ss.Config(select_config=lambda hello: ss.Config()), shaken=False) as (a, b):
        other = Task(b.handshake)
        with pytest.raises(ss.AlertError):
            a.handshake()
        error = other.error()
        assert isinstance(error, ss.ConfigError) and error.name == "ERR_NO_CREDENTIAL"


# Which certificate


def test_credentials_are_chosen_on_both_sides() -> None:
    seen: list[ss.CertificateRequest] = []

    def choose(name: str) -> Any:
        def select(request: ss.CertificateRequest) -> ss.Credential:
            seen.append(request)
            return credential(name)

        return select

    server = asking_config(credentials=[], select_credential=choose("server-rsa2048"), client_cas=[pem("client-root")])
    client = client_config(select_credential=choose("client-p384"))
    with connections(client, server) as (a, b):
        assert a.peer_certificates == der_chain("server-rsa2048")
        assert b.peer_certificates == der_chain("client-p384")
    assert [len(request.issuers) for request in seen] == [0, 1]
    assert seen[0].server_name == NAME and P256 in seen[0].schemes


def test_client_that_chooses_none_shows_none() -> None:
    server = asking_config(client_certificate=ss.ClientCertificate.REQUEST)
    client = client_config(select_credential=lambda request: None, credentials=credential("client-p256"))
    with connections(client, server) as (_, b):
        assert b.peer_certificates == ()


# Is the peer good


@pytest.mark.parametrize(
    "name, answer, error",
    [
        ("server-p256", None, None),
        ("server-p256", True, None),
        ("server-p256", False, "ERR_REJECTED"),
        ("server-expired", None, "ERR_CERT_EXPIRED"),
        ("server-expired", True, None),
        ("server-expired", False, "ERR_REJECTED"),
    ],
)
def test_peer_is_judged(name: str, answer: bool | None, error: str | None) -> None:
    seen: list[ss.PeerCertificate] = []

    def verify(peer: ss.PeerCertificate) -> bool | None:
        seen.append(peer)
        return answer

    with connections(client_config(verify_peer=verify), server_config(name), shaken=False) as (a, b):
        other = Task(b.handshake)
        if error is None:
            a.handshake()
            other.result()
            assert a.stream.is_verified == (name == "server-p256")
        else:
            with pytest.raises(ss.CertificateError) as refused:
                a.handshake()
            assert refused.value.name == error and refused.value.chain == der_chain(name)
            assert isinstance(other.error(), ss.AlertError)
    assert seen[0].chain == der_chain(name) and seen[0].server_name == NAME
    verdict = seen[0].verdict
    assert (verdict is None) == (name == "server-p256")
    assert verdict is None or verdict.reasons == {ss.Status.ERR_CERT_EXPIRED} and verdict.chain == seen[0].chain


def test_judge_that_raises_refuses_the_peer() -> None:
    def verify(peer: ss.PeerCertificate) -> bool:
        raise LookupError("no such pin")

    with connections(client_config(verify_peer=verify), shaken=False) as (a, b):
        other = Task(b.handshake)
        with pytest.raises(LookupError, match="no such pin"):
            a.handshake()
        error = other.error()
        assert isinstance(error, ss.AlertError) and error.alert == 46
        with pytest.raises(ss.ProtocolError) as again:
            a.send(b"x")
        assert again.value.name == "ERR_REJECTED"


def test_judge_makes_trust_unnecessary() -> None:
    config = ss.Config(verify_peer=lambda peer: peer.chain == der_chain("server-self-signed"), trust=ss.TrustStore())
    with connections(config, server_config("server-self-signed")) as (a, _):
        assert not a.stream.is_verified


# Nobody answers, and other faults of the user


def test_question_that_nobody_answers_ends_the_handshake() -> None:
    server = server_config(suspend_on=[ss.Status.WANT_CERTIFICATE])
    with connections(server=server, shaken=False) as (a, b):
        other = Task(b.handshake)
        with pytest.raises(ss.AlertError) as refused:
            a.handshake()
        assert refused.value.alert == 40
        error = other.error()
        assert isinstance(error, ss.StateError) and "WANT_CERTIFICATE" in str(error)


def test_suspend_on_takes_questions_only() -> None:
    wrong: Any
    for wrong in [ss.Status.OK], [ss.Status.ERR_STATE], [ss.Status.WANT_CLIENT_HELLO + 15]:
        with pytest.raises(ss.ArgumentError, match="suspend_on"):
            ss.Config(suspend_on=wrong)
    wrong = b"\x10"
    with pytest.raises(TypeError):
        ss.Config(suspend_on=wrong)


def test_client_without_a_config_is_refused() -> None:
    with pytest.raises(ss.ArgumentError):
        ss.Stream(None, ss.Role.CLIENT)


# Streams without a socket


def advance(client: ss.Stream, server: ss.Stream, to_client: bytes = b"", to_server: bytes = b"") -> tuple[bytes, bytes]:
    """Carry the handshake on until it is done, or somebody stops; return what waits for the client and the server."""
    while True:
        output, taken = client.handshake(to_client)
        to_client, to_server = to_client[taken:], to_server + output
        answer, taken = server.handshake(to_server)
        to_client, to_server = to_client + answer, to_server[taken:]
        if not (output or answer):
            return to_client, to_server


def test_stream_is_answered_by_its_user() -> None:
    asking = client_config(suspend_on=[ss.Status.WANT_CERTIFICATE_VERIFY])
    client = ss.Stream(asking, ss.Role.CLIENT, server_name=NAME, verify_time=NOW)
    server = ss.Stream(None, ss.Role.SERVER, verify_time=NOW)
    assert client.question is None and server.question is None
    waits = advance(client, server)
    assert isinstance(server.question, ss.ClientHello) and client.question is None
    assert server.state == ss.State.HANDSHAKE | ss.State.SUSPENDED and server.config is None
    thread = threading.Thread(target=server.set_config, args=(server_config(),))
    thread.start()
    thread.join()
    assert server.question is None
    waits = advance(client, server, *waits)
    match client.question:
        case ss.PeerCertificate(verdict=None, chain=chain):
            assert chain == der_chain("server-p256")
            client.accept_default()
        case other:
            raise AssertionError(other)
    advance(client, server, *waits)
    assert client.is_open and client.is_verified
    for answer in client.accept, client.accept_default, client.reject, lambda: client.set_credential(None):
        with pytest.raises(ss.StateError):
            answer()


def test_stream_is_answered_by_its_config() -> None:
    chooses = ss.Config(select_config=lambda hello: server_config())
    client, server = streams(client_config(verify_peer=lambda peer: True), chooses)
    with pytest.raises(ss.StateError):
        client.answer()
    waits = advance(client, server)
    server.answer()
    waits = advance(client, server, *waits)
    client.answer()
    advance(client, server, *waits)
    assert client.is_open and client.is_verified


def test_answers_without_effect_leave_the_question() -> None:
    server = ss.Stream(None, ss.Role.SERVER, verify_time=NOW)
    advance(streams()[0], server)
    with pytest.raises(ss.ConfigError):
        server.set_config(ss.Config())
    with pytest.raises(ss.ArgumentError):
        server.reject(0)
    with pytest.raises(TypeError):
        server.set_signature("text")  # type: ignore[arg-type]
    assert isinstance(server.question, ss.ClientHello)


def test_questions_fit_into_an_event_loop() -> None:
    """Twenty handshakes in one thread, each signed by a task that waits."""
    signer = Signer("server-p256")
    chain = ss.Credential.with_signer(pem("server-p256"), signer)

    async def sign(stream: ss.Stream, operation: ss.PrivateKeyOperation) -> None:
        await asyncio.sleep(0.01)
        stream.set_signature(signer(operation))

    async def shake() -> bool:
        client, server = streams(server=server_config(credentials=chain))
        waits = advance(client, server)
        match server.question:
            case ss.PrivateKeyOperation() as operation:
                await sign(server, operation)
        advance(client, server, *waits)
        return client.is_open and client.is_verified

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(shake() for _ in range(20)))

    assert asyncio.run(all_of_them()) == [True] * 20
    assert len(signer.asked) == 20


def test_nothing_is_left_of_answers() -> None:
    before = live_objects()
    for _ in range(3):
        test_chosen_config_asks_its_own_questions()
        signer_test.test_signer_of_the_chain_that_is_sent_is_asked()
        test_stream_is_answered_by_its_user()
    assert live_objects() == before
