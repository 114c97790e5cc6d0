"""The raw module: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import array
import base64
import mmap
import re
import sys
import threading
from typing import Any

import pytest

import securestream as ss
from peers import NAME, ROOT, key, live_objects, pair, pem, streams
from securestream import _native as n

sys.path.insert(0, str(ROOT / "script"))
import header_reader  # type: ignore[import-not-found]  # noqa: E402

HEADER = (ROOT / "abi" / "securestream.h").read_text()
STRIDED = memoryview(bytearray(64))[::2]


def stream() -> n.StreamHandle:
    return pair()[0]._handle


def test_functions_and_constants_of_the_header_are_all_there() -> None:
    names = [function.name for function in header_reader.functions(HEADER)] + header_reader.constants(HEADER)
    assert len(names) > 300
    assert [name for name in names if not hasattr(n, name)] == []


def test_constants_have_the_values_of_the_abi_description() -> None:
    described = dict(line.split(" = ") for line in (ROOT / "abi" / "constants.txt").read_text().splitlines())
    assert {name: int(value) for name, value in described.items()} == {name: getattr(n, name) for name in described}


def test_statuses_of_the_facade_are_all_of_the_header() -> None:
    pattern = r"SST_((?:OK|NEED_INPUT|NEED_OUTPUT|CLOSED|NONE|WANT_\w+|ERR_\w+))$"
    names = {match[1] for name in header_reader.constants(HEADER) if (match := re.match(pattern, name))}
    assert names == set(ss.Status.__members__)


def test_handles_have_their_own_types() -> None:
    config = n.sst_config_new()
    with pytest.raises(TypeError, match="a TrustHandle is needed, not .*ConfigHandle"):
        n.sst_trust_num_anchors(config)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        n.sst_stream_encrypt(None, b"", bytearray(10))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        n.ConfigHandle()


def test_none_is_null_and_the_library_judges_it() -> None:
    assert n.sst_config_freeze(None, 1) == n.SST_ERR_INVALID_ARGUMENT
    assert n.sst_config_set_trust(n.sst_config_new(), None) == n.SST_OK
    assert n.sst_stream_new(None, n.SST_ROLE_CLIENT) == (n.SST_ERR_INVALID_ARGUMENT, None)
    assert n.sst_config_ref(None) is None


def test_released_handle_is_refused_and_released_again() -> None:
    before = live_objects()
    config = n.sst_config_new()
    second = n.sst_config_ref(config)
    n.sst_config_free(config)
    assert live_objects() == before + 1
    with pytest.raises(ValueError, match="released"):
        n.sst_config_freeze(config, 1)
    n.sst_config_free(config)
    n.sst_config_free(None)
    assert n.sst_config_set_verify(second, n.SST_VERIFY_NONE) == n.SST_OK
    del config, second
    assert live_objects() == before


@pytest.mark.parametrize(
    "data",
    [b"abcd", bytearray(b"abcd"), memoryview(b"abcd"), array.array("I", [1]), memoryview(b"abcd").cast("B", (2, 2))],
    ids=lambda data: type(data).__name__,
)
def test_input_is_any_contiguous_buffer(data: Any) -> None:
    client, server = pair()
    room = bytearray(100)
    progress = n.sst_stream_encrypt(client._handle, data, room)
    assert progress == (n.SST_OK, 4, progress.produced, 0, 0, 0)
    assert server.decrypt(room[: progress.produced])[0] == bytes(memoryview(data).cast("B"))


@pytest.mark.parametrize("data", [None, "abcd", 1, [1, 2], STRIDED], ids=["None", "str", "int", "list", "strided"])
def test_other_input_is_refused(data: Any) -> None:
    with pytest.raises((TypeError, BufferError)):
        n.sst_stream_encrypt(stream(), data, bytearray(100))


@pytest.mark.parametrize("room", [b"read-only", memoryview(b"read-only"), STRIDED, None], ids=["bytes", "view", "strided", "None"])
def test_output_that_cannot_be_written_is_refused_and_nothing_consumed(room: Any) -> None:
    client, server = pair()
    wire = client.encrypt(b"data")
    for call in (n.sst_stream_decrypt, n.sst_stream_encrypt, n.sst_stream_handshake):
        with pytest.raises((TypeError, BufferError)):
            call(server._handle, wire, room)
    for end in (n.sst_stream_flush, n.sst_stream_close):
        with pytest.raises((TypeError, BufferError)):
            end(server._handle, room)
    with pytest.raises((TypeError, BufferError)):
        n.sst_stream_decrypt_in_place(server._handle, room, 4)
    assert server.decrypt(wire) == (b"data", len(wire))
    assert server.state == ss.State.OPEN


@pytest.mark.parametrize("kind", [bytearray, lambda size: array.array("B", bytes(size)), lambda size: memoryview(bytearray(size)),
                                  lambda size: mmap.mmap(-1, size)], ids=["bytearray", "array", "memoryview", "mmap"])
def test_output_goes_to_any_writable_buffer(kind: Any) -> None:
    client, server = pair()
    room = kind(4096)
    progress = n.sst_stream_decrypt(server._handle, client.encrypt(b"real bytes"), room)
    assert progress.produced == 10
    with memoryview(room) as view:
        assert bytes(view[:10]) == b"real bytes"


def test_buffers_are_free_again_after_a_call() -> None:
    data, room = bytearray(b"data"), bytearray(100)
    client = stream()
    n.sst_stream_encrypt(client, data, room)
    with pytest.raises(BufferError):
        n.sst_stream_encrypt(client, data, b"")
    with pytest.raises(TypeError):
        n.sst_stream_encrypt(None, data, room)  # type: ignore[arg-type]
    n.sst_stream_encryptv(client, [data, data], room)
    with pytest.raises(TypeError):
        n.sst_stream_encryptv(client, [data, 1], room)  # type: ignore[list-item]
    data.append(1)  # would raise while somebody holds it
    room.append(1)


def test_wrong_number_of_arguments_is_refused() -> None:
    client = stream()
    calls: list[Any] = [n.sst_stream_encrypt, n.sst_stream_flush, n.sst_stream_state, n.sst_stream_decrypt_in_place]
    for call in calls:
        with pytest.raises(TypeError):
            call(client, b"", bytearray(), 1, 1)


@pytest.mark.parametrize("number", [-1, 2**64, 2**100, "1", 1.5])
def test_numbers_out_of_range_are_refused(number: Any) -> None:
    client = stream()
    calls: list[Any] = [
        lambda: n.sst_stream_peer_certificate(client, number),
        lambda: n.sst_stream_encrypted_size(client, number),
        lambda: n.sst_config_set_max_fragment(n.sst_config_new(), number),
        lambda: n.sst_config_set_groups(n.sst_config_new(), [29, number]),
        lambda: n.sst_stream_decrypt_in_place(client, bytearray(10), number),
    ]
    for call in calls:
        with pytest.raises((OverflowError, TypeError, ValueError)):
            call()


def test_lists_are_sequences_of_numbers() -> None:
    config = n.sst_config_new()
    assert n.sst_config_set_groups(config, (29, 23)) == n.SST_OK
    assert n.sst_config_set_groups(config, range(29, 30)) == n.SST_OK
    assert n.sst_config_set_groups(config, []) == n.SST_ERR_BAD_GROUP
    for wrong in (b"\x00\x1d", "29", 29, [65536], None):
        with pytest.raises((TypeError, OverflowError)):
            n.sst_config_set_groups(config, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [NAME, NAME.encode(), bytearray(NAME.encode()), memoryview(NAME.encode())])
def test_text_is_str_or_bytes(name: Any) -> None:
    client = streams()[0]._handle
    assert n.sst_stream_set_server_name(client, name) == n.SST_OK
    assert n.sst_stream_set_server_name(client, None) == n.SST_OK
    assert n.sst_stream_set_server_name(client, "nul\0.test") == n.SST_ERR_BAD_HOST
    with pytest.raises(UnicodeEncodeError):
        n.sst_stream_set_server_name(client, "\ud800")
    with pytest.raises(TypeError):
        n.sst_stream_set_server_name(client, 1)  # type: ignore[arg-type]


def test_password_opens_a_key() -> None:
    handle = n.sst_credential_new()
    encrypted = key("server-p256-encrypted")
    assert n.sst_credential_load_pem(handle, encrypted, None) == n.SST_ERR_PASSWORD_REQUIRED
    assert n.sst_credential_load_pem(handle, encrypted, "wrong") == n.SST_ERR_BAD_PASSWORD
    status, (code, sent, received, reasons, detail, message) = n.sst_credential_last_error(handle)
    assert (status, code, sent, received, reasons, detail) == (n.SST_OK, n.SST_ERR_BAD_PASSWORD, -1, -1, 0, 0)
    assert message
    assert n.sst_credential_load_pem(handle, encrypted, b"secret") == n.SST_OK


def test_getter_grows_to_what_the_library_says() -> None:
    handle = n.sst_credential_new()
    assert n.sst_credential_load_pem(handle, pem("server-rsa4096"), None) == n.SST_OK
    blocks = re.findall(r"-----BEGIN CERTIFICATE-----(.*?)-----END", pem("server-rsa4096").decode(), re.S)
    first = base64.b64decode(blocks[0])
    assert len(first) > 512, "the first room must be too small for this test"
    assert n.sst_credential_certificate(handle, 0) == (n.SST_OK, first)
    assert n.sst_credential_certificate(handle, len(blocks)) == (n.SST_OK, b"")


def test_getter_that_cannot_answer_gives_its_status() -> None:
    client = stream()
    status, data = n.sst_stream_channel_binding(client, n.SST_BINDING_TLS_EXPORTER)
    assert status in (n.SST_OK, n.SST_ERR_UNSUPPORTED) and bool(data) == (status == n.SST_OK)
    assert n.sst_stream_client_hello_list(client, n.SST_HELLO_GROUPS) == (n.SST_OK, [])
    assert n.sst_stream_private_key_operation(client) == (n.SST_ERR_STATE, 0, 0, b"")


def test_in_place_tells_where_the_plaintexts_lie() -> None:
    client, server = pair()
    wire = bytearray(client.encrypt(b"first") + client.encrypt(b"second") + client.encrypt(b"third")[:-1])
    progress, ranges = n.sst_stream_decrypt_in_place(server._handle, wire, 1)
    assert (progress.status, progress.produced, progress.needed, len(ranges)) == (n.SST_NEED_OUTPUT, 5, 0, 1)
    assert bytes(wire[ranges[0][0] :][: ranges[0][1]]) == b"first"
    rest = memoryview(wire)[progress.consumed :]
    progress, ranges = n.sst_stream_decrypt_in_place(server._handle, rest, 100)
    assert (progress.status, progress.produced, progress.needed) == (n.SST_NEED_INPUT, 6, 1)
    assert [bytes(rest[offset : offset + length]) for offset, length in ranges] == [b"second"]


def test_pieces_share_a_record() -> None:
    client, server = pair()
    room = bytearray(1000)
    progress = n.sst_stream_encrypt2(client._handle, b"head", b"body", room)
    assert progress[:2] == (n.SST_OK, 8)
    assert server.decrypt(room[: progress.produced])[0] == b"headbody"
    progress = n.sst_stream_encryptv(client._handle, [b"a", bytearray(b"b"), memoryview(b"c")], room)
    assert progress[:2] == (n.SST_OK, 3)
    assert server.decrypt(room[: progress.produced])[0] == b"abc"
    assert client.counter(ss.Counter.RECORDS_SENT) == 2


@pytest.mark.parametrize("size", [2**31, 2**31 + 5])
def test_lengths_above_int_max_are_passed_whole(size: int) -> None:
    """R07. A map without a file behind it: no page of it is touched but those that are encrypted."""
    client, server = pair()
    room = bytearray(65536)
    with mmap.mmap(-1, size) as region, memoryview(region) as view:
        progress = n.sst_stream_encrypt(client._handle, view, room)
        assert progress.status == n.SST_NEED_OUTPUT
        assert 0 < progress.consumed < size and 0 < progress.produced <= 65536
        assert 0 < progress.needed < size
        assert server.decrypt(memoryview(room)[: progress.produced])[0] == bytes(progress.consumed)

        wire = client.encrypt(b"x" * 80 * 1024)
        view[: len(wire)] = wire
        progress = n.sst_stream_decrypt(server._handle, view, room)
        assert progress.status == n.SST_NEED_OUTPUT
        assert 0 < progress.consumed < len(wire) and 0 < progress.produced <= 65536
        assert room[: progress.produced] == b"x" * progress.produced
        assert n.sst_stream_encrypted_size(client._handle, size) > size


def test_overlap_is_an_argument_error_with_nothing_done() -> None:
    client = stream()
    room = bytearray(1000)
    view = memoryview(room)
    assert n.sst_stream_encrypt(client, view[:100], view[50:]) == (n.SST_ERR_INVALID_ARGUMENT, 0, 0, 0, 0, 0)


def test_two_threads_on_one_side_take_turns() -> None:
    """The library would say BUSY; the raw module lets the second wait. Big calls give up the GIL, so they do meet."""
    client, server = pair()
    data, statuses = bytes(1 << 20), []
    received = bytearray()
    lock = threading.Lock()

    def send() -> None:
        room = bytearray(n.sst_stream_encrypted_size(client._handle, len(data)))
        for _ in range(10):
            with lock:  # the wire's order is the order of the calls
                progress = n.sst_stream_encrypt(client._handle, data, room)
                received.extend(server.decrypt(memoryview(room)[: progress.produced])[0])
            statuses.append(progress.status)
            statuses.append(n.sst_stream_encrypt(client._handle, b"", room).status)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [n.SST_OK] * 80
    assert received == bytes(40 << 20)


def test_calls_without_a_common_lock_never_see_busy() -> None:
    client, _ = pair()
    statuses: set[int] = set()

    def send() -> None:
        room = bytearray(n.sst_stream_encrypted_size(client._handle, 1 << 18))
        for _ in range(50):
            statuses.add(n.sst_stream_encrypt(client._handle, bytes(1 << 18), room).status)
            statuses.add(n.sst_stream_encrypt(client._handle, b"small", room).status)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {n.SST_OK}


def test_stream_released_during_a_call_lives_until_its_end() -> None:
    before = live_objects()
    for _ in range(20):
        client, server = pair()
        handle = client._handle
        room = bytearray(8 << 20)
        results: list[Any] = []
        begun = threading.Event()

        def send() -> None:
            begun.set()
            try:
                while True:
                    results.append(n.sst_stream_encrypt(handle, bytes(4 << 20), room).status)
            except ValueError as error:
                results.append(error)

        thread = threading.Thread(target=send)
        thread.start()
        begun.wait()
        n.sst_stream_free(handle)
        thread.join()
        assert isinstance(results[-1], ValueError) and set(results[:-1]) <= {n.SST_OK}
        del client, server, handle, thread, send
    assert live_objects() == before
