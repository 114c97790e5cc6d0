"""A client and a server (README.md, section 2)."""

from __future__ import annotations

from typing import Any

import securestream as ss
from securestream import Status
from support import NAME, NOW, credential, trust

from .cases import Case

_ROOM = 65536


class Unexpected(Exception):
    """A status, or a plaintext, that a case does not expect."""


class Pair:
    """Configs and rooms for any number of pairs of streams."""

    def __init__(self, case: Case) -> None:
        both: dict[str, Any] = {"min_version": case.version, "max_version": case.version, "groups": case.groups}
        if case.minimum_rsa:
            both["minimum_rsa_bits"] = case.minimum_rsa
        client, server = dict(both, trust=trust()), dict(both, credentials=credential(case.leaf))
        if case.client:
            client["credentials"] = credential(case.client)
            server |= {"trust": trust("client-root"), "client_certificate": ss.ClientCertificate.REQUIRE}
        self._configs = ss.Config(**client), ss.Config(**server)
        self._rooms = memoryview(bytearray(_ROOM)), memoryview(bytearray(_ROOM))

    def open(self) -> tuple[ss.Stream, ss.Stream]:
        """Two streams with their handshake done."""
        client = ss.Stream(self._configs[0], ss.Role.CLIENT, server_name=NAME, verify_time=NOW)
        server = ss.Stream(self._configs[1], ss.Role.SERVER, verify_time=NOW)
        to_client = to_server = self._rooms[0][:0]
        client_status = server_status = -1
        while client_status != Status.OK or server_status != Status.OK:
            if client_status != Status.OK:
                to_server, client_status = _step(client, to_client, self._rooms[1])
            if server_status != Status.OK:
                to_client, server_status = _step(server, to_server, self._rooms[0])
        return client, server


def _step(stream: ss.Stream, data: memoryview, room: memoryview) -> tuple[memoryview, int]:
    """Give a side all of data; return what it sends."""
    progress = stream.handshake_into(data, room)
    if progress.status not in (Status.OK, Status.NEED_INPUT) or progress.consumed != len(data):
        raise Unexpected(f"handshake gives {progress}")
    if progress.status == Status.NEED_INPUT and not progress.produced:
        raise Unexpected("the handshake does not end")
    return room[: progress.produced], progress.status
