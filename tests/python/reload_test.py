"""A listener is given another certificate while it is used: nobody notices but those who come later."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import securestream as ss
from peers import NAME, NOW, client_config, credential, der_chain, server_config, trust

NAMES = ["server-p256", "server-rsa2048", "server-ed25519", "server-p384"]
LEAVES = {der_chain(name)[0] for name in NAMES}


@contextmanager
def echo(config: ss.Config) -> Iterator[ss.Listener]:
    """A server that gives back what comes, each client in a thread of its own."""
    with ss.listen(("127.0.0.1", 0), config, backlog=64, verify_time=NOW) as listener:
        threads: list[threading.Thread] = []
        errors: list[BaseException] = []

        def serve(connection: ss.Connection) -> None:
            try:
                with connection:
                    connection.settimeout(30)
                    while data := connection.recv(100):
                        connection.sendall(data)
            except BaseException as error:
                errors.append(error)

        def accept() -> None:
            listener.settimeout(0.1)
            while not done.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                threads.append(threading.Thread(target=serve, args=(connection,)))
                threads[-1].start()

        done = threading.Event()
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield listener
        finally:
            done.set()
            acceptor.join()
            for thread in threads:
                thread.join()
        assert errors == []


def connect(listener: ss.Listener, client: ss.Config) -> ss.Connection:
    return ss.connect(listener.address, client, server_name=NAME, timeout=30, verify_time=NOW)


def says(connection: ss.Connection, data: bytes) -> bool:
    connection.sendall(data)
    return connection.recv(100) == data


def test_fifty_reloads_under_load_fail_no_handshake() -> None:
    client, done = client_config(), threading.Event()
    seen: set[bytes] = set()
    counts, errors = [0] * 3, list[BaseException]()

    def load(index: int) -> None:
        try:
            while not done.is_set():
                with connect(listener, client) as connection:
                    assert says(connection, b"%d" % index)
                    seen.add(connection.peer_certificates[0])
                counts[index] += 1
        except BaseException as error:
            errors.append(error)

    credentials = {name: credential(name) for name in NAMES}
    with echo(server_config(NAMES[-1])) as listener, connect(listener, client) as old:
        before = old.peer_certificates
        threads = [threading.Thread(target=load, args=(index,)) for index in range(3)]
        for thread in threads:
            thread.start()
        for n in range(50):
            name = NAMES[n % len(NAMES)]
            listener.config = listener.config.replace(credentials=credentials[name])
            with connect(listener, client) as connection:
                assert connection.peer_certificates == der_chain(name), "who comes after it has the new one"
                assert says(connection, b"new")
            assert says(old, b"still here"), "who came before lives on"
        done.set()
        for thread in threads:
            thread.join()
        assert old.peer_certificates == before
    assert errors == [] and min(counts) > 0 and seen <= LEAVES and len(seen) > 1


def test_config_that_cannot_serve_leaves_the_old_one() -> None:
    with echo(server_config()) as listener:
        good = listener.config
        for wrong in (ss.Config(trust=trust()), good.replace(credentials=[])):
            with pytest.raises(ss.ConfigError) as caught:
                listener.config = wrong
            assert caught.value.name == "ERR_NO_CREDENTIAL"
        assert listener.config is good
        with connect(listener, client_config()) as connection:
            assert says(connection, b"as before")


def test_connection_that_was_accepted_before_keeps_its_config() -> None:
    """Even where its handshake comes after the reload."""
    with ss.listen(("127.0.0.1", 0), server_config(), verify_time=NOW) as listener:
        clients = []

        def client() -> None:
            with connect(listener, client_config()) as connection:
                clients.append(connection.peer_certificates)

        thread = threading.Thread(target=client)
        thread.start()
        accepted, _ = listener.accept()
        listener.config = listener.config.replace(credentials=credential("server-p384"))
        with accepted:
            accepted.handshake()
            thread.join()
        assert clients == [der_chain("server-p256")]


def test_replaced_configs_are_freed() -> None:
    with echo(server_config()) as listener:
        listener.config = listener.config.replace(credentials=credential(NAMES[0]))
        start = ss.live_objects()
        for name in NAMES * 5:
            listener.config = listener.config.replace(credentials=credential(name))
        assert ss.live_objects() == start
