"""A client and a server (README.md, section 2)."""

from __future__ import annotations

from typing import Any

import securestream as ss
from securestream import Status, _native
from support import NAME, NOW, credential, trust

from .cases import Case
from .link import Link, new_link

Streams = tuple[ss.Stream, ss.Stream]


class Unexpected(Exception):
    """A status, or a plaintext, that a case does not expect."""


class Party:
    """What the pairs of a case are made of."""

    def __init__(self, case: Case) -> None:
        both: dict[str, Any] = {"min_version": case.version, "max_version": case.version, "groups": case.groups}
        if case.minimum_rsa:
            both["minimum_rsa_bits"] = case.minimum_rsa
        client, server = dict(both, trust=trust()), dict(both, credentials=credential(case.leaf))
        if case.client:
            client["credentials"] = credential(case.client)
            server |= {"trust": trust("client-root"), "client_certificate": ss.ClientCertificate.REQUIRE}
        if case.kind in ("resumed", "early"):
            client["report"] = [ss.EventKind.SESSION]
        self._settings, self._early = (client, server), case.kind == "early"
        self.renew()

    def renew(self) -> None:
        """New configs in the place of the old ones; credentials and trust stay."""
        client, server = self._settings
        self._configs = ss.Config(**client), ss.Config(**server)
        for config in self._configs if self._early else ():
            if _native.sst_config_set_early_data(config._handle, 1) != Status.OK:
                raise Unexpected("0-RTT cannot be set")

    def streams(self) -> Streams:
        """A client and a server that have sent nothing yet."""
        client, server = self._configs
        return (
            ss.Stream(client, ss.Role.CLIENT, server_name=NAME, verify_time=NOW),
            ss.Stream(server, ss.Role.SERVER, verify_time=NOW),
        )


class Hand:
    """Performs handshakes, one at a time, each with new streams over a new connection."""

    def __init__(self, party: Party, over: str = "memory") -> None:
        self._party, self._link = party, new_link(over)

    def open(self) -> Streams:
        """Two streams with their handshake done."""
        return self.shake(self._party.streams())

    def shake(self, streams: Streams) -> Streams:
        """The same streams with their handshake done."""
        link = self._link
        link.connect()
        finished, reads = [False, False], False
        while not all(finished):
            for side, stream in enumerate(streams):
                if not finished[side]:
                    finished[side] = _turn(stream, side, link, reads or side == 1)
            reads = True
        link.close()
        return streams


def _turn(stream: ss.Stream, side: int, link: Link, reads: bool) -> bool:
    """A side takes what has come until it answers or has finished, which is returned. A client's first reads not."""
    while True:
        data = link.receive(side) if reads else b""
        if reads and not data:
            raise Unexpected("the handshake does not end")
        progress = stream.handshake_into(data, link.rooms[side])
        if progress.status not in (Status.OK, Status.NEED_INPUT) or progress.consumed != len(data):
            raise Unexpected(f"handshake gives {progress}")
        if progress.produced or progress.status == Status.OK:
            link.send(side, progress.produced)
            return progress.status == Status.OK
