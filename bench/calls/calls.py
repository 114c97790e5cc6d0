"""What one call costs from Python: ns of CPU time, and blocks of Python's memory that its result holds. calls.c is the same in C.

usage: calls.py FOLDER      with server-p256.pem and server-p256.key: tests/data
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import securestream as ss
from securestream import _native as n

ROUNDS = 7


def cost(call: Callable[[], Any], count: int) -> tuple[float, float]:
    """Nanoseconds of the best round, the loop taken off, and blocks that a result holds."""

    def spent(function: Callable[[], Any]) -> int:
        began = time.process_time_ns()
        for _ in range(count):
            function()
        return time.process_time_ns() - began

    loop = min(spent(lambda: None) for _ in range(ROUNDS))
    best = min(spent(call) for _ in range(ROUNDS)) - loop
    kept: list[Any] = [None] * 1000
    call()
    before = sys.getallocatedblocks()
    for index in range(len(kept)):
        kept[index] = call()
    return best / count, (sys.getallocatedblocks() - before) / len(kept)


def show(what: str, call: Callable[[], Any], count: int = 100_000) -> None:
    ns, blocks = cost(call, count)
    print(f"{what:44}{ns:10.0f} ns{blocks:8.1f} blocks")


def pair(folder: Path) -> tuple[ss.Stream, ss.Stream]:
    credential = ss.Credential.from_files(folder / "server-p256.pem", folder / "server-p256.key")
    client = ss.Stream(ss.Config(verify=ss.Verify.NONE), ss.Role.CLIENT)
    server = ss.Stream(ss.Config(credentials=credential), ss.Role.SERVER)
    output, _ = client.handshake()
    output, _ = server.handshake(output)
    output, taken = client.handshake(output)
    output, _ = server.handshake(output)
    client.decrypt(output + server.flush())
    return client, server


def main(folder: Path) -> None:
    one, two = pair(folder)
    client, server = one._handle, two._handle
    room, back, nothing = bytearray(70_000), bytearray(40_000), b""
    view = memoryview(room)
    show("sst_stream_state", lambda: n.sst_stream_state(client))
    show("sst_stream_output_size", lambda: n.sst_stream_output_size(client))
    show("sst_stream_flush, nothing waits", lambda: n.sst_stream_flush(client, room))
    show("sst_stream_encrypt, 0 bytes", lambda: n.sst_stream_encrypt(client, nothing, room))
    show("sst_stream_decrypt, 0 bytes", lambda: n.sst_stream_decrypt(server, nothing, back))
    show("sst_stream_get_info", lambda: n.sst_stream_get_info(client))
    show("sst_stream_alpn", lambda: n.sst_stream_alpn(client))
    show("Stream.encrypt_into, 0 bytes", lambda: one.encrypt_into(nothing, room))
    for size in (1, 1400, 16384):
        data = bytes(size)

        def twice() -> object:
            produced = n.sst_stream_encrypt(client, data, room)[2]
            return n.sst_stream_decrypt(server, view[:produced], back)

        def in_place() -> object:
            produced = n.sst_stream_encrypt(client, data, room)[2]
            return n.sst_stream_decrypt_in_place(server, view[:produced], 64)

        show(f"encrypt and decrypt, {size} bytes", twice, 20_000)
        show(f"encrypt and decrypt in place, {size} bytes", in_place, 20_000)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
