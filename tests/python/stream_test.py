"""Streams without a socket: bytes in, bytes out, whatever the pieces."""

from __future__ import annotations

import random
from typing import Any

import pytest

import securestream as ss
from peers import client_config, credential, pair, pem, server_config, streams, trust

VERSIONS = [ss.Version.TLS1_2, ss.Version.TLS1_3]


def configs(version: ss.Version) -> tuple[ss.Config, ss.Config]:
    only: dict[str, Any] = {"min_version": version, "max_version": version}
    return client_config(**only), server_config(**only)


@pytest.fixture(params=VERSIONS, ids=lambda version: version.name)
def both(request: pytest.FixtureRequest) -> tuple[ss.Stream, ss.Stream]:
    return pair(*configs(request.param))


@pytest.mark.parametrize("version", VERSIONS)
def test_handshake_one_byte_at_a_time_with_one_byte_of_room(version: ss.Version) -> None:
    client, server = streams(*configs(version))
    room = bytearray(1)
    wires: dict[ss.Stream, bytearray] = {client: bytearray(), server: bytearray()}
    done: set[ss.Stream] = set()
    for _ in range(100_000):
        for side, other in ((client, server), (server, client)):
            progress = side.handshake_into(wires[side][:1], room)
            del wires[side][: progress.consumed]
            wires[other] += room[: progress.produced]
            if progress.status == ss.Status.OK:
                done.add(side)
        if len(done) == 2:
            break
    assert client.is_open and server.is_open
    assert client.version == server.version == version
    assert server.decrypt(client.encrypt(b"data"))[0] == b"data"


def test_facts_before_and_after_the_handshake() -> None:
    client, server = streams()
    assert (client.version, client.alpn, client.peer_certificates, client.state) == (None, None, (), 0)
    assert not client.is_open and not client.is_verified
    client, server = pair()
    assert client.version == ss.Version.TLS1_3 and client.info.suite and client.info.group
    assert client.is_verified and ss.Fact.EXTENDED_MASTER_SECRET in client.facts
    assert not server.is_verified and server.peer_certificates == ()
    assert client.state == server.state == ss.State.OPEN
    assert "TLS 1.3" in client.description and client.description in repr(client)
    assert client.role == ss.Role.CLIENT and isinstance(client.config, ss.Config)


def test_names_of_what_was_agreed() -> None:
    client, server = streams()
    assert client.info == (0,) * 6
    names = client.info.suite_name, client.info.group_name, client.info.peer_scheme_name, client.info.local_scheme_name
    assert names == ("",) * 4
    client, server = pair(*configs(ss.Version.TLS1_2))
    assert client.info.suite_name == server.info.suite_name
    assert client.info.suite_name.startswith("TLS_ECDHE_ECDSA_WITH_") and client.info.group_name == "x25519"
    assert client.info.peer_scheme_name == server.info.local_scheme_name == "ecdsa_secp256r1_sha256"
    assert client.info.local_scheme_name == server.info.peer_scheme_name == ""


def test_certificates_of_both_sides() -> None:
    settings: dict[str, Any] = {"trust": trust("client-root"), "client_certificate": ss.ClientCertificate.REQUIRE}
    credentials = credential("client-p256"), credential("server-p256")
    client, server = pair(client_config(credentials=credentials[0]), server_config(**settings))
    assert client.local_certificates == server.peer_certificates == credentials[0].certificates
    assert server.local_certificates == client.peer_certificates == credentials[1].certificates
    assert streams()[1].local_certificates == pair()[0].local_certificates == ()


def test_encrypted_size_is_always_enough(both: tuple[ss.Stream, ss.Stream]) -> None:
    client, server = both
    for size in (0, 1, 16384, 16385, 100_000):
        if client.version == ss.Version.TLS1_3:
            client.key_update()
        room = bytearray(client.encrypted_size(size))
        progress = client.encrypt_into(bytes(size), room)
        assert (progress.status, progress.consumed) == (ss.Status.OK, size)
        assert server.decrypt(room[: progress.produced])[0] == bytes(size)


@pytest.mark.parametrize("size", [0, 1, 2, 100, 16383, 16384, 16385, 100_000])
def test_data_of_all_sizes_goes_both_ways(both: tuple[ss.Stream, ss.Stream], size: int) -> None:
    data = random.Random(size).randbytes(size)
    for side, other in (both, both[::-1]):
        wire = side.encrypt(data)
        assert other.decrypt(wire) == (data, len(wire))
        assert other.plaintext_size == side.output_size == 0


def test_nothing_is_not_the_end(both: tuple[ss.Stream, ss.Stream]) -> None:
    """R04."""
    client, server = both
    assert client.encrypt(b"") == b""
    assert server.decrypt(b"") == (b"", 0)
    assert server.decrypt_into(b"", bytearray(10)).status == ss.Status.NEED_INPUT
    assert client.is_open and server.is_open


def test_record_in_pieces_and_short_rooms(both: tuple[ss.Stream, ss.Stream]) -> None:
    client, server = both
    data = random.Random(1).randbytes(40_000)
    wire, got, room = client.encrypt(data), bytearray(), bytearray(777)
    step = 1000
    for start in range(0, len(wire), step):
        piece = memoryview(wire)[start : start + step]
        while True:
            progress = server.decrypt_into(piece, room)
            piece = piece[progress.consumed :]
            got += room[: progress.produced]
            if progress.status == ss.Status.NEED_INPUT:
                break
            assert progress.status == ss.Status.NEED_OUTPUT
    assert got == data


def test_encrypt_in_short_rooms_goes_on_where_it_stopped(both: tuple[ss.Stream, ss.Stream]) -> None:
    client, server = both
    data = random.Random(2).randbytes(50_000)
    rest, got, room = memoryview(data), b"", bytearray(5000)
    while rest:
        progress = client.encrypt_into(rest, room)
        rest = rest[progress.consumed :]
        got += server.decrypt(room[: progress.produced])[0]
    assert got == data


def test_record_that_is_not_whole_is_left_when_asked() -> None:
    client, server = pair(leave_partial=True)
    wire = client.encrypt(b"x" * 1000)
    progress = server.decrypt_into(wire[:100], bytearray(2000))
    assert (progress.status, progress.consumed, progress.needed) == (ss.Status.NEED_INPUT, 0, len(wire) - 100)
    assert server.decrypt(wire) == (b"x" * 1000, len(wire))


def test_half_close_leaves_the_other_direction(both: tuple[ss.Stream, ss.Stream]) -> None:
    """C02."""
    client, server = both
    wire = client.encrypt(b"req") + client.close()
    assert server.decrypt(wire + b"PLAIN") == (b"req", len(wire))
    assert server.decrypt_into(b"", bytearray(9)).status == ss.Status.CLOSED
    with pytest.raises(ss.ClosedError):
        client.encrypt(b"late")
    body = bytes(3 * 16384)
    wire = server.encrypt(body) + server.close()
    assert server.close() == b""
    assert client.decrypt(wire) == (body, len(wire))
    assert client.state & (ss.State.WE_CLOSED | ss.State.PEER_CLOSED) == ss.State.WE_CLOSED | ss.State.PEER_CLOSED


def test_truncation_does_not_overtake_the_data(both: tuple[ss.Stream, ss.Stream]) -> None:
    """V04."""
    client, server = both
    body = bytes(40_000)
    wire = server.encrypt(body) + server.close()[:3]
    got = client.decrypt(wire)[0]
    client.input_eof()
    assert got == body
    for _ in range(2):
        with pytest.raises(ss.TruncatedError) as caught:
            client.decrypt(b"")
        assert isinstance(caught.value, EOFError)
    assert isinstance(client.last_error, ss.TruncatedError)
    assert server.decrypt(client.encrypt(b"sending goes on"))[0] == b"sending goes on"


def test_failure_behind_data_is_raised_by_the_next_call(both: tuple[ss.Stream, ss.Stream]) -> None:
    client, server = both
    good, bad = client.encrypt(b"good"), bytearray(client.encrypt(b"bad"))
    bad[-1] ^= 1
    plaintext, _ = server.decrypt(good + bad)
    assert plaintext == b"good"
    for _ in range(2):
        with pytest.raises(ss.ProtocolError) as caught:
            server.decrypt(b"")
        assert caught.value.name == "ERR_BAD_RECORD_MAC"
    with pytest.raises(ss.AlertError, match="bad_record_mac"):
        client.decrypt(server.flush())
    with pytest.raises(ss.AlertError):
        client.encrypt(b"x")


def test_abort_tells_the_peer(both: tuple[ss.Stream, ss.Stream]) -> None:
    client, server = both
    client.abort(80)
    with pytest.raises(ss.AlertError) as caught:
        server.decrypt(client.flush())
    assert caught.value.alert == 80
    with pytest.raises(ss.ProtocolError, match="abort"):
        client.encrypt(b"x")
    for wrong in (0, 256, -1):
        with pytest.raises(ss.ArgumentError):
            pair()[0].abort(wrong)


def test_key_update_is_answered_from_the_sending_side() -> None:
    """R03."""
    client, server = pair()
    client.key_update(request_peer=True)
    room = bytearray(100)
    progress = server.decrypt_into(client.encrypt(b"x"), room)
    assert room[: progress.produced] == b"x" and progress.flags & ss.Flag.HAS_OUTPUT
    assert server.output_size > 0
    assert client.decrypt(server.encrypt(b"y"))[0] == b"y"
    assert client.counter(ss.Counter.KEY_UPDATES_RECEIVED) == server.counter(ss.Counter.KEY_UPDATES_SENT) == 1
    with pytest.raises(ss.UnsupportedError):
        pair(*configs(ss.Version.TLS1_2))[0].key_update()


def test_in_place_gives_the_plaintexts_and_then_the_failure(both: tuple[ss.Stream, ss.Stream]) -> None:
    client, server = both
    wire = bytearray(client.encrypt(b"one") + client.encrypt(b"two"))
    end = len(wire)
    wire += client.encrypt(b"bad")
    wire[-1] ^= 1
    progress, ranges = server.decrypt_in_place(wire)
    assert [bytes(wire[offset:][:length]) for offset, length in ranges] == [b"one", b"two"]
    with pytest.raises(ss.ProtocolError):
        server.decrypt_in_place(wire[progress.consumed :])
    assert progress.consumed >= end


def test_flight_that_is_larger_than_the_first_room_comes_whole() -> None:
    asking = server_config("server-rsa4096", trust=trust("client-root"), client_certificate=ss.ClientCertificate.REQUEST,
                           client_cas=[pem("client-root")] * 100)
    client, server = streams(server=asking)
    hello, _ = client.handshake()
    flight, _ = server.handshake(hello)
    assert len(flight) > 4096, "the flight must not fit the first room"
    output, taken = client.handshake(flight)
    assert client.is_open and taken == len(flight)
    assert server.handshake(output)[0] is not None and server.is_open


@pytest.mark.parametrize("wrong", [memoryview(bytearray(64))[::2], None, "text", 5])
def test_buffer_that_cannot_be_used_changes_nothing(wrong: Any) -> None:
    client, server = pair()
    for call in (client.encrypt, client.decrypt, client.handshake):
        with pytest.raises((TypeError, BufferError)):
            call(wrong)
    assert server.decrypt(client.encrypt(b"fine"))[0] == b"fine"


def test_max_fragment_cuts_records() -> None:
    client, server = pair(max_fragment=512)
    assert server.decrypt(client.encrypt(bytes(5120)))[0] == bytes(5120)
    assert client.counter(ss.Counter.RECORDS_SENT) == 10
