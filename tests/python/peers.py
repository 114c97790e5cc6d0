"""What the tests share: credentials of tests/data, pairs in memory and over sockets, and Python's ssl as foreign peer."""

from __future__ import annotations

import gc
import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, NoReturn, TypeVar

import pytest

import securestream as ss
from support import DATA as DATA
from support import NAME as NAME
from support import NOW as NOW
from support import ROOT as ROOT
from support import credential as credential
from support import data as data
from support import der_chain as der_chain
from support import key as key
from support import pem as pem
from support import trust as trust

T = TypeVar("T")


def server_config(name: str = "server-p256", **settings: Any) -> ss.Config:
    return ss.Config(**{"credentials": credential(name), **settings})


def asking_config(**settings: Any) -> ss.Config:
    """A server that demands a certificate."""
    required = ss.ClientCertificate.REQUIRE
    return server_config(**{"trust": trust("client-root"), "client_certificate": required, **settings})


def client_config(**settings: Any) -> ss.Config:
    return ss.Config(**{"trust": trust(), **settings})


def streams(client: ss.Config | None = None, server: ss.Config | None = None, **options: Any) -> tuple[ss.Stream, ss.Stream]:
    """A client and a server that have not begun."""
    return (
        ss.Stream(client or client_config(), ss.Role.CLIENT, server_name=NAME, verify_time=NOW, **options),
        ss.Stream(server or server_config(), ss.Role.SERVER, verify_time=NOW, **options),
    )


def shake(client: ss.Stream, server: ss.Stream) -> None:
    """Carry the handshake between two streams to its end, tickets included."""
    to_client = to_server = b""
    while not (client.is_open and server.is_open):
        output, taken = client.handshake(to_client)
        to_client, to_server = to_client[taken:], to_server + output
        output, taken = server.handshake(to_server)
        to_client, to_server = to_client + output, to_server[taken:]
    assert not to_server
    to_client += server.flush()
    plaintext, taken = client.decrypt(to_client)
    assert (plaintext, taken) == (b"", len(to_client))


def pair(client: ss.Config | None = None, server: ss.Config | None = None, **options: Any) -> tuple[ss.Stream, ss.Stream]:
    """A client and a server with the handshake done."""
    made = streams(client, server, **options)
    shake(*made)
    return made


def live_objects() -> int:
    """Those of the library; what earlier tests have left to the collector is not among them."""
    gc.collect()
    return ss.live_objects()


class Task(Generic[T]):
    """A function in a thread; `result` waits for it and gives or raises what it did."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._error: BaseException | None = None
        try:
            self._value = self._function()
        except BaseException as error:
            self._error = error

    def result(self, timeout: float = 20) -> T:
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "the thread does not end"
        if self._error is not None:
            raise self._error
        return self._value

    def error(self, timeout: float = 20) -> BaseException:
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "the thread does not end"
        assert self._error is not None, "the thread has not failed"
        return self._error


@contextmanager
def sockets(timeout: float | None = 10) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connected pair over TCP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        two, _ = listener.accept()
    with one, two:
        one.settimeout(timeout)
        two.settimeout(timeout)
        yield one, two


@contextmanager
def connections(
    client: ss.Config | None = None, server: ss.Config | None = None, *, timeout: float | None = 10, shaken: bool = True
) -> Iterator[tuple[ss.Connection, ss.Connection]]:
    """A client and a server over TCP."""
    with sockets(timeout) as (one, two):
        ours = ss.Connection.client(one, client or client_config(), NAME, verify_time=NOW)
        theirs = ss.Connection.server(two, server or server_config(), verify_time=NOW)
        if shaken:
            task = Task(theirs.handshake)
            ours.handshake()
            task.result()
        yield ours, theirs


def refused(client: ss.Config, server: ss.Config) -> ss.CertificateError:
    """What a client raises that must refuse this server."""
    one, two = streams(client, server)
    flight, _ = two.handshake(one.handshake()[0])
    with pytest.raises(ss.CertificateError) as caught:
        one.handshake(flight)
    return caught.value


def missing(what: str) -> NoReturn:
    """What this test needs is not there: it is skipped, and counted; in CI it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def read_all(connection: ss.Connection) -> bytes:
    pieces = []
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def foreign_server(version: ssl.TLSVersion | None = None, client_ca: str | None = None, name: str = "server-p256") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(DATA / f"{name}.pem", DATA / f"{name}.key")
    return _foreign(context, version, client_ca)


def foreign_client(version: ssl.TLSVersion | None = None, ca: str = "root") -> ssl.SSLContext:
    return _foreign(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), version, ca)


def _foreign(context: ssl.SSLContext, version: ssl.TLSVersion | None, ca: str | None) -> ssl.SSLContext:
    if version is not None:
        context.minimum_version = context.maximum_version = version
    if ca is not None:
        context.load_verify_locations(DATA / f"{ca}.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VerifyFlags(0x200000)  # X509_V_FLAG_NO_CHECK_TIME
    return context
