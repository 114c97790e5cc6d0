"""The exceptions: their tree, what they tell, and that each failure raises the one that its users expect."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

import securestream as ss
from peers import NAME, NOW, Task, client_config, connections, credential, pair, pem, server_config, sockets, streams, trust
from securestream.errors import Record, error_class

BUILTIN = {
    ss.ArgumentError: ValueError,
    ss.ConfigError: ValueError,
    ss.StateError: RuntimeError,
    ss.ClosedError: RuntimeError,
    ss.FrozenError: RuntimeError,
    ss.BusyError: RuntimeError,
    ss.ForkedError: RuntimeError,
    ss.UnsupportedError: NotImplementedError,
    ss.OutOfMemoryError: MemoryError,
    ss.SystemCallError: OSError,
    ss.InternalError: RuntimeError,
    ss.ProtocolError: ConnectionError,
    ss.CertificateError: ConnectionError,
    ss.AlertError: ConnectionError,
    ss.HandshakeEOFError: EOFError,
    ss.TruncatedError: EOFError,
}


@pytest.mark.parametrize("status", [status for status in ss.Status if status < 0], ids=lambda status: status.name)
def test_each_error_has_an_exception_below_the_root_and_a_builtin_one(status: ss.Status) -> None:
    found = error_class(status)
    assert issubclass(found, ss.SecureStreamError)
    assert issubclass(found, BUILTIN[found])


@pytest.mark.parametrize(("code", "expected"), [(-119, ss.StateError), (-399, ss.ConfigError), (-449, ss.ProtocolError), (-548, ss.CertificateError),
                                                (-799, ss.ProtocolError), (-999, ss.InternalError), (-1255, ss.AlertError)])
def test_code_of_a_later_library_falls_into_its_band(code: int, expected: type[ss.SecureStreamError]) -> None:
    error = error_class(code)(Record(code, -1, -1, 0, 0, "later"))
    assert type(error) is expected
    assert error.code == code and str(error).startswith("later")


def test_exception_survives_pickling() -> None:
    for kind in BUILTIN:
        error = kind(Record(-201, 40, -1, 3, 5, "what failed"))
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind and again.record == error.record and str(again) == str(error)


def test_system_call_error_has_errno() -> None:
    assert ss.SystemCallError(Record(-201, -1, -1, 0, 13, "open")).errno == 13


@pytest.mark.parametrize(
    ("name", "code", "reasons"),
    [
        ("server-expired", "ERR_CERT_EXPIRED", {"ERR_CERT_EXPIRED"}),
        ("server-other", "ERR_CERT_NAME_MISMATCH", {"ERR_CERT_NAME_MISMATCH"}),
        ("server-expired-other", "ERR_CERT_EXPIRED", {"ERR_CERT_EXPIRED", "ERR_CERT_NAME_MISMATCH"}),
        ("server-untrusted", "ERR_CERT_ISSUER_NOT_FOUND", {"ERR_CERT_ISSUER_NOT_FOUND"}),
    ],
)
def test_certificate_error_tells_all_reasons_and_the_alert(name: str, code: str, reasons: set[str]) -> None:
    client, server = streams(server=server_config(name))
    hello, _ = client.handshake()
    flight, _ = server.handshake(hello)
    with pytest.raises(ss.CertificateError) as caught:
        client.handshake(flight)
    error = caught.value
    assert error.name == code and error.code == ss.Status[code]
    assert {reason.name for reason in error.reasons} == reasons
    assert error.alert_sent is not None and error.alert_received is None
    assert error.output, "the alert for the peer"
    with pytest.raises(ss.AlertError) as told:
        server.handshake(error.output)
    assert told.value.alert == error.alert_sent
    assert told.value.alert_name in str(told.value)
    with pytest.raises(ss.CertificateError, match=re.escape(str(error))):
        client.handshake()


def test_into_form_leaves_the_alert_in_the_room() -> None:
    client, server = streams(server=server_config("server-other"))
    room = bytearray(20000)
    hello, _ = client.handshake()
    flight, _ = server.handshake(hello)
    with pytest.raises(ss.CertificateError) as caught:
        client.handshake_into(flight, room)
    assert caught.value.progress is not None
    with pytest.raises(ss.AlertError):
        server.handshake(room[: caught.value.progress.produced])


@pytest.mark.parametrize("where", ["before any byte", "client after half of the flight", "server after its flight"])
def test_end_inside_the_handshake_is_an_eof_error_at_every_call(where: str) -> None:
    """H04."""
    client, server = streams()
    side = client
    if where != "before any byte":
        hello, _ = client.handshake()
        flight, _ = server.handshake(hello)
        side = server if where.startswith("server") else client
        if side is client:
            client.handshake(flight[: len(flight) // 2])
    side.input_eof()
    for _ in range(2):
        with pytest.raises(ss.HandshakeEOFError) as caught:
            side.handshake()
        assert isinstance(caught.value, EOFError) and not isinstance(caught.value, ss.TruncatedError)
    assert side.peer_certificates == ()


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("half", ["nothing", "half a flight"])
def test_socket_that_ends_inside_the_handshake_raises_within_a_second(side: str, half: str) -> None:
    """H04."""
    with sockets() as (ours, peer):
        if side == "client":
            connection = ss.Connection.client(ours, client_config(), NAME, verify_time=NOW)
        else:
            connection = ss.Connection.server(ours, server_config(), verify_time=NOW)
        if half != "nothing":
            client, server = streams()
            hello, _ = client.handshake()
            flight = hello
            if side == "client":
                # The real answer to what this client sends.
                task = Task(connection.handshake)
                flight, _ = server.handshake(peer.recv(65536))
                peer.sendall(flight[: len(flight) // 2])
                peer.close()
                error = task.error(1)
                assert isinstance(error, ss.HandshakeEOFError)
                return
            peer.sendall(flight[: len(flight) // 2])
        peer.close()
        error = Task(connection.handshake).error(1)
        # Where bytes of ours were unread, the system says that the connection was reset.
        assert isinstance(error, (ss.HandshakeEOFError, ConnectionResetError))
        if half == "nothing" and side == "server":
            assert isinstance(error, ss.HandshakeEOFError)


REQUIRES: dict[str, Any] = {"client_certificate": ss.ClientCertificate.REQUIRE}


def test_missing_client_certificate_shows_at_the_first_read_in_tls13() -> None:
    """A01."""
    client, server = streams(server=server_config(trust=trust("client-root"), **REQUIRES))
    output, _ = client.handshake()
    output, _ = server.handshake(output)
    output, _ = client.handshake(output)
    assert client.is_open, "TLS 1.3: the client's handshake does not tell"
    with pytest.raises(ss.ProtocolError) as caught:
        server.handshake(output + client.encrypt(b"data"))
    assert caught.value.name == "ERR_PEER_CERT_REQUIRED" and not isinstance(caught.value, ss.AlertError)
    for _ in range(2):
        with pytest.raises(ss.AlertError) as told:
            client.decrypt(caught.value.output)
        assert told.value.alert == 116 and "certificate_required" in str(told.value)
        with pytest.raises(ss.AlertError):
            client.encrypt(b"more")


def test_missing_client_certificate_fails_the_handshake_in_tls12() -> None:
    """A01."""
    server = server_config(trust=trust("client-root"), max_version=ss.Version.TLS1_2, **REQUIRES)
    with connections(server=server, shaken=False) as (ours, theirs):
        task = Task(theirs.handshake)
        with pytest.raises(ss.AlertError, match="handshake_failure") as caught:
            ours.handshake()
        assert caught.value.alert == 40
        ours.close()
        assert isinstance(task.error(), ss.ProtocolError)


@pytest.mark.parametrize("how", ["send", "close"])
def test_client_that_only_writes_is_told_of_the_refusal(how: str) -> None:
    """A01: by the first write after the alert is readable, at the latest by close."""
    with connections(server=server_config(trust=trust("client-root"), **REQUIRES), shaken=False) as (ours, theirs):
        task = Task(theirs.handshake)
        ours.handshake()
        task.error()  # the alert is in our socket now
        with pytest.raises(ss.AlertError, match="certificate_required"):
            if how == "send":
                ours.sendall(b"data")
            else:
                ours.close()
        ours.close()
        theirs.close()


def test_client_that_reads_is_told_of_the_refusal() -> None:
    with connections(server=server_config(trust=trust("client-root"), **REQUIRES), shaken=False) as (ours, theirs):
        task = Task(theirs.handshake)
        ours.handshake()
        for _ in range(2):
            with pytest.raises(ss.AlertError, match="certificate_required"):
                ours.recv(100)
        task.error()
        ours.close()


def test_certificate_that_is_wanted_and_given_is_taken() -> None:
    server = server_config(trust=trust("client-root"), **REQUIRES)
    client, accepted = pair(client_config(credentials=credential("client-p256")), server)
    assert accepted.is_verified
    assert len(accepted.peer_certificates) == pem("client-p256").count(b"BEGIN CERT")
    assert client.encrypt(b"data")


def test_client_without_a_name_is_told_of_its_ways_out() -> None:
    """X06."""
    stream = ss.Stream(client_config(), ss.Role.CLIENT)
    with pytest.raises(ss.ConfigError) as caught:
        stream.handshake()
    assert caught.value.name == "ERR_NO_EXPECTED_NAME" and caught.value.output == b""
    assert "set one" in str(caught.value) and "CHAIN_ONLY" in str(caught.value)
    named = pair(client_config(verify=ss.Verify.CHAIN_ONLY), server_config("server-other"))
    assert named[0].is_verified


def test_state_errors_change_nothing() -> None:
    client, server = streams()
    with pytest.raises(ss.StateError):
        client.encrypt(b"early")
    with pytest.raises(ss.StateError):
        client.decrypt(b"early")
    with pytest.raises(ss.StateError):
        server.key_update()
    assert client.state == 0
    client, server = pair()
    client.close()
    with pytest.raises(ss.ClosedError) as caught:
        client.encrypt(b"late")
    assert "ERR_CLOSED" in str(caught.value)
    assert client.last_error is None
    with pytest.raises(ss.StateError):
        ss.Stream(server_config(), ss.Role.SERVER, server_name=NAME)
