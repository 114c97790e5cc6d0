"""Handshakes that resume a session, and 0-RTT (README.md, section 3). What the package has no calls for yet is asked of
the raw module."""

from __future__ import annotations

from securestream import RECORD_MAX, Fact, Flag, Progress, Status, Stream, Version, _native
from support import pattern

from .cases import Case
from .pair import Hand, Party, Streams, Unexpected

_ROOM = 65536


def _expect(progress: Progress, call: str, status: Status, flags: Flag, produced: int | None = None) -> None:
    if progress.status != status or progress.flags & Flag.EARLY_DATA != flags:
        raise Unexpected(f"{call} gives {progress}")
    if produced is not None and progress.produced != produced:
        raise Unexpected(f"{call} gives {progress}")


class Resumer:
    """Performs handshakes, each with the session of the one before."""

    def __init__(self, case: Case) -> None:
        self._party, self._version = Party(case), case.version
        self._hand = Hand(self._party)
        self._plain = pattern(case.size)
        self._read, self._rest = bytearray(case.size + RECORD_MAX), bytearray(RECORD_MAX)
        self._to_server, self._to_client = memoryview(bytearray(_ROOM)), memoryview(bytearray(_ROOM))
        self._session: _native.SessionHandle | None = None
        self.connect()
        # A TLS 1.2 server gives no new ticket for one that its newest key opens.
        if case.version == Version.TLS1_2 and _native.sst_session_set_reusable(self._session, 1) != Status.OK:
            raise Unexpected("the session cannot be made reusable")

    def connect(self) -> None:
        """One op. (The first resumes nothing.)"""
        client, server = streams = self._party.streams()
        wanted = Fact(0)
        if self._session is not None:
            wanted = Fact.RESUMED
            if _native.sst_stream_set_session(client._handle, self._session) != Status.OK:
                raise Unexpected("the session cannot be set")
        if wanted and self._plain:
            wanted |= Fact.EARLY_DATA_ACCEPTED
            self._shake_early(client, server)
        else:
            self._hand.shake(streams)
        for stream in streams:
            if stream.facts & (Fact.RESUMED | Fact.EARLY_DATA_ACCEPTED) != wanted:
                raise Unexpected(f"{stream.role.name} has {stream.facts!r}, not {wanted!r}")
        self._keep_session(streams)

    def check(self) -> None:
        """The early data was read. Raises `Unexpected`."""
        size = len(self._plain)
        if self._read[:size] != self._plain:
            raise Unexpected("other bytes came than were sent")
        self._read[:size] = bytes(size)

    def _shake_early(self, client: Stream, server: Stream) -> None:
        """The server finishes its handshake in the call that reads the end of the early data (RFC 8446, 4.5)."""
        none, early, plain = Flag(0), Flag.EARLY_DATA, self._plain
        hello = client.handshake_into(b"", self._to_server)
        _expect(hello, "the client's handshake", Status.NEED_INPUT, early)
        data = client.encrypt_into(plain, self._to_server[hello.produced :])
        _expect(data, "encrypt", Status.OK, early)
        flight = self._to_server[: hello.produced + data.produced]
        answer = server.handshake_into(flight, self._to_client)
        _expect(answer, "the server's handshake", Status.OK, early)
        came = server.decrypt_into(flight[answer.consumed :], self._read)
        _expect(came, "decrypt of early data", Status.NEED_INPUT, early, len(plain))
        last = client.handshake_into(self._to_client[: answer.produced], self._to_server)
        _expect(last, "the client's handshake", Status.OK, none)
        rest = self._to_client[last.consumed : answer.produced]
        end = server.decrypt_into(self._to_server[: last.produced], self._rest)
        _expect(end, "decrypt of the end of early data", Status.NEED_INPUT, none, 0)
        if rest:
            _expect(client.decrypt_into(rest, self._rest), "decrypt of tickets", Status.NEED_INPUT, none, 0)

    def _keep_session(self, streams: Streams) -> None:
        """TLS 1.3 sends tickets behind the handshake; in TLS 1.2 they are a part of it."""
        client, server = streams
        if self._version == Version.TLS1_3:
            sent = server.flush_into(self._to_client)
            _expect(sent, "flush", Status.OK, Flag(0))
            came = client.decrypt_into(self._to_client[: sent.produced], self._rest)
            _expect(came, "decrypt of tickets", Status.NEED_INPUT, Flag(0), 0)
        elif self._session is not None:
            return
        self._session = _native.sst_stream_take_session(client._handle)
        if self._session is None:
            raise Unexpected("no session came")
