"""The examples of docs/suspensions.md, run."""

from __future__ import annotations

import asyncio
import re
import ssl
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.x509 import load_pem_x509_certificate

import securestream as ss
from peers import (
    NAME,
    NOW,
    ROOT,
    Task,
    asking_config,
    client_config,
    connections,
    credential,
    der_chain,
    pem,
    server_config,
    sockets,
    streams,
    trust,
)
from signer_test import Signer

PAGE = (ROOT / "docs" / "suspensions.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def example(name: str) -> Any:
    """The function of that name."""
    found = [text for text in EXAMPLES if f"def {name}(" in text]
    assert len(found) == 1
    scope: dict[str, Any] = {}
    exec(compile(found[0], "docs/suspensions.md", "exec"), scope)
    return scope[name]


def test_every_example_is_tested() -> None:
    names = [re.findall(r"^(?:async )?def (\w+)", text, re.MULTILINE) for text in EXAMPLES]
    assert names == [
        ["by_name"],
        ["with_wallet"],
        ["pinned"],
        ["from_token"],
        ["with_store"],
        ["with_key_server"],
        ["ask"],
        ["answer"],
    ]


def test_by_name() -> None:
    config = example("by_name")({NAME: server_config("server-p384")})
    with connections(server=config) as (a, _):
        assert a.peer_certificates == der_chain("server-p384")
    with connections(server=example("by_name")({}), shaken=False) as (a, b):
        other = Task(b.handshake)
        with pytest.raises(ss.AlertError):
            a.handshake()
        assert isinstance(other.error(), LookupError)


def test_with_wallet() -> None:
    issuer = load_pem_x509_certificate(pem("client-root")).subject.public_bytes()
    config = example("with_wallet")(trust(), {issuer: credential("client-p256")})
    with connections(config, asking_config(client_cas=[pem("client-root")])) as (_, b):
        assert b.peer_certificates == der_chain("client-p256")
    server = asking_config(client_cas=[pem("client-root-b")], client_certificate=ss.ClientCertificate.REQUEST)
    with connections(config, server) as (_, b):
        assert b.peer_certificates == ()


@pytest.mark.parametrize(
    "leaf, pins, error",
    [
        ("server-p256", ["server-p256"], None),
        ("server-p256", ["server-p384"], "ERR_REJECTED"),
        ("server-expired", ["server-expired"], None),
        ("server-expired-other", ["server-expired-other"], "ERR_CERT_EXPIRED"),
    ],
)
def test_pinned(leaf: str, pins: list[str], error: str | None) -> None:
    config = example("pinned")(trust(), {der_chain(name)[0] for name in pins})
    with connections(config, server_config(leaf), shaken=False) as (a, b):
        other = Task(b.handshake)
        if error is None:
            a.handshake()
            other.result()
            return
        with pytest.raises(ss.CertificateError) as refused:
            a.handshake()
        assert refused.value.name == error
        other.error()


def test_from_token() -> None:
    signer = Signer("server-p256")

    def token(scheme: int, message: bytes) -> bytes:
        return signer(ss.PrivateKeyOperation(scheme, message, ()))

    with connections(server=example("from_token")(pem("server-p256"), token)) as (a, _):
        assert a.stream.is_verified


def test_with_store() -> None:
    store: dict[bytes, ss.Session] = {}
    config = example("with_store")(credential("server-p256"), store)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_TICKET
    session = None
    for turn in range(2):
        with sockets() as (one, two):
            server = ss.Connection.server(two, config, verify_time=NOW)
            task = Task(server.handshake)
            client = context.wrap_socket(one, session=session)
            task.result()
            assert client.session_reused == server.is_resumed == bool(turn)
            session = client.session
            while event := server.stream.next_event():
                kept = server.take_session()
                assert kept is not None
                store[event.data] = kept


def test_with_key_server() -> None:
    asked: list[bytes] = []

    def cannot(ticket: bytes) -> None:
        asked.append(ticket)

    client = client_config(session_cache=ss.SessionCache())
    server = example("with_key_server")(credential("server-p256"), cannot)
    for config in server_config(), server:
        with connections(client, config) as (a, b):
            b.sendall(b"x")
            a.recv(1)
            assert not a.is_resumed
    assert len(asked) == 1


def test_ask() -> None:
    cache = ss.SessionCache()
    client = client_config(session_cache=cache, early_data=True)
    server = server_config(early_data=True)
    with ss.listen(("127.0.0.1", 0), server, verify_time=NOW) as listener:

        def serve(size: int) -> tuple[bytes, bool]:
            connection, _ = listener.accept()
            with connection:
                got, is_early = connection.recv(size), connection.is_early
                connection.sendall(b"x")
                connection.recv(1)
            return got, is_early

        # The page's function has no time at which to judge the certificates of the tests.
        scope = SimpleNamespace(connect=partial(ss.connect, server_name=NAME, verify_time=NOW, timeout=10))
        ask = example("ask")
        ask.__globals__["ss"] = scope
        for is_early in (False, True):
            task = Task(partial(serve, 100))
            with ask(listener.address, client, b"request") as connection:
                assert connection.recv(1) == b"x"
            assert task.result() == (b"request", is_early)


def test_answer() -> None:
    answer, server = example("answer"), ss.Stream(None, ss.Role.SERVER, verify_time=NOW)
    client, _ = streams(client_config(suspend_on=[ss.Status.WANT_CERTIFICATE_VERIFY]))
    configs = {NAME: server_config()}
    waits = SimpleNamespace(client=b"", server=b"")
    while not (client.is_open and server.is_open):
        output, taken = client.handshake(waits.client)
        waits.client, waits.server = waits.client[taken:], waits.server + output
        output, taken = server.handshake(waits.server)
        waits.client, waits.server = waits.client + output, waits.server[taken:]
        for stream in client, server:
            asyncio.run(answer(stream, configs))
    assert client.is_verified
