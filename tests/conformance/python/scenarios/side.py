"""One side of a connection: a stream between two wires, and the calls on it (README.md, section 4).

Every call gets buffers of exactly the size that it is told of, and every progress is checked against section 10 of the
header.
"""

from __future__ import annotations

import enum

import securestream as ss
from securestream import Flag, Progress, Status

from .failure import Failure, require, same
from .wire import Wire

_ROOM = 65536
_RANGES = 64
_WITHOUT_EFFECT = (Status.ERR_INVALID_ARGUMENT, Status.ERR_BUSY, Status.ERR_FORKED)


class Call(enum.Enum):
    HANDSHAKE = "handshake"
    ENCRYPT = "encrypt"
    DECRYPT = "decrypt"
    DECRYPT_IN_PLACE = "decrypt in place"
    FLUSH = "flush"
    CLOSE = "close"

    @property
    def takes_wire(self) -> bool:
        return self in (Call.HANDSHAKE, Call.DECRYPT, Call.DECRYPT_IN_PLACE)

    @property
    def receives(self) -> bool:
        return self in (Call.DECRYPT, Call.DECRYPT_IN_PLACE)


def named(status: int) -> str:
    """A status for people."""
    if status <= Status.ERR_ALERT_RECEIVED:
        return f"alert {Status.ERR_ALERT_RECEIVED - status}"
    try:
        return Status(status).name
    except ValueError:
        return str(status)


def same_status(what: str, got: int, expected: int) -> None:
    same(what, named(got), named(expected))


class Side:
    def __init__(self, role: ss.Role, incoming: Wire, outgoing: Wire, chunk: int | None, room: int | None) -> None:
        self.role = role
        self.incoming, self.outgoing = incoming, outgoing
        self.chunk, self.room = chunk, room  # None: whole, plenty
        self.made: ss.Stream | None = None
        self.leaves_partial = False
        self.handshake_over = False
        self.opened_at: int | None = None  # bytes put on the outgoing wire when the handshake gave OK
        self.events: list[ss.Event] = []  # without key-log lines
        self.lines: list[str] = []  # of the key log
        self.sessions = 0  # that came
        self.early_bytes = 0  # of plaintext that came as 0-RTT data
        self._progress = Progress((0, 0, 0, 0, 0, 0))
        self._asked = 0  # room that the next call must have; 0: the usual one

    @property
    def stream(self) -> ss.Stream:
        assert self.made is not None
        return self.made

    @property
    def record(self) -> ss.SecureStreamError | None:
        """What ended the stream."""
        return self.stream.last_error

    # One call

    def _perform(self, call: Call, data: bytes, room: int) -> bytes:
        """Make one call; what it produced goes to the wire, or is returned if it is plaintext."""
        out = bytearray(0 if call == Call.DECRYPT_IN_PLACE else room)
        try:
            match call:
                case Call.HANDSHAKE:
                    self._progress = self.stream.handshake_into(data, out)
                case Call.ENCRYPT:
                    self._progress = self.stream.encrypt_into(data, out)
                case Call.DECRYPT:
                    self._progress = self.stream.decrypt_into(data, out)
                case Call.DECRYPT_IN_PLACE:
                    out = self._decrypt_in_place(bytearray(data), room)
                case Call.FLUSH:
                    self._progress = self.stream.flush_into(out)
                case Call.CLOSE:
                    self._progress = self.stream.close_into(out)
        except ss.SecureStreamError as error:
            require(error.progress is not None, f"{call.value}: an error without progress")
            assert error.progress is not None
            self._progress = error.progress
            same_status("the code of the error", error.code, self._progress.status)
        require(self._progress.consumed <= len(data), f"{call.value}: more consumed than given")
        require(self._progress.produced <= len(out), f"{call.value}: more produced than there was room")
        self._check(call, len(data))
        produced = bytes(out[: self._progress.produced])
        if call.receives and self._progress.flags & Flag.EARLY_DATA:
            self.early_bytes += len(produced)
        if not call.receives:
            self.outgoing.write(produced)
        return produced if call.receives else b""

    def _decrypt_in_place(self, buffer: bytearray, max_ranges: int) -> bytearray:
        self._progress, ranges = self.stream.decrypt_in_place(buffer, max_ranges)
        require(len(ranges) <= max_ranges, "more ranges than there was room")
        out = bytearray()
        for offset, length in ranges:
            require(offset + length <= len(buffer), "a range outside the buffer")
            out += buffer[offset : offset + length]
        same("bytes in ranges", len(out), self._progress.produced)
        return out

    def _check(self, call: Call, size: int) -> None:
        """What is true of every progress."""
        p, name = self._progress, call.value
        if p.status in _WITHOUT_EFFECT:
            return
        output, plaintext = self.stream.output_size, self.stream.plaintext_size
        same(f"{name}: waiting", p.waiting, plaintext if call.receives else output)
        same(f"{name}: HAS_OUTPUT", bool(p.flags & Flag.HAS_OUTPUT), output > 0)
        same(f"{name}: HAS_PLAINTEXT", bool(p.flags & Flag.HAS_PLAINTEXT), plaintext > 0)
        if p.status == Status.OK:
            require(not call.receives, f"{name} gives OK")
            # Tickets of a server wait behind its handshake, and go out with what is sent next.
            may_wait = call == Call.HANDSHAKE or call == Call.ENCRYPT and size == 0
            require(output == 0 or may_wait, f"{name} gives OK, and output waits")
            require(call != Call.ENCRYPT or p.consumed == size, f"{name} gives OK for {p.consumed} of {size} bytes")
        elif p.status == Status.NEED_INPUT:
            require(call.takes_wire, f"{name} needs input")
            require(p.needed > 0, f"{name} needs input, and does not say how much")
            may_leave = call == Call.DECRYPT_IN_PLACE or call == Call.DECRYPT and self.leaves_partial
            require(may_leave or p.consumed == size, f"{name} needs input, and has taken {p.consumed} of {size} bytes")
        elif p.status == Status.NEED_OUTPUT:
            require(call == Call.DECRYPT_IN_PLACE or p.needed > 0, f"{name} needs room, and does not say how much")
            if call in (Call.HANDSHAKE, Call.FLUSH, Call.CLOSE):
                same(f"{name}: the room that is needed", p.needed, output)
        elif p.status >= Status.WANT_CLIENT_HELLO:
            require(call == Call.HANDSHAKE, f"{name} stops for {named(p.status)}")
            same(f"{name}: output that waits behind a question", output, 0)
        else:
            require(p.status < 0 or p.status == Status.CLOSED and call.receives, f"{name} gives {named(p.status)}")
            require(plaintext == 0 or not call.receives, f"{name} ends by {named(p.status)}, and plaintext is kept")

    def once(self, call: Call, data: bytes = b"", room: int | None = None) -> Progress:
        """One call without input from the wire, by default with plenty of room."""
        self._perform(call, data, self._plenty(call, len(data)) if room is None else room)
        return self._progress

    # Repeated calls

    def _plenty(self, call: Call, size: int) -> int:
        match call:
            case Call.DECRYPT:
                return size + ss.RECORD_MAX
            case Call.ENCRYPT:
                return self.stream.encrypted_size(size)
            case Call.DECRYPT_IN_PLACE:
                return _RANGES
        return _ROOM

    def _next_room(self, call: Call, size: int) -> int:
        asked, self._asked = self._asked, 0
        if asked:
            return asked
        return self._plenty(call, size) if self.room is None else self.room

    def _note_need_of_room(self, call: Call, room: int) -> None:
        p = self._progress
        if call != Call.DECRYPT_IN_PLACE and self.room is None:
            raise Failure(f"{call.value} needs {p.needed} bytes of room, and had plenty: {room}")
        if p.consumed == 0 and p.produced == 0:
            require(p.needed > room, f"stall: {call.value} had room for {room} and needs {p.needed}")
            self._asked = p.needed

    def deliver(self, call: Call) -> tuple[bytes, int]:
        """Repeat a call with what waits on the wire; return all plaintext and the last status."""
        self._asked = 0
        plaintext, held, again = bytearray(), 0, False  # held: bytes that the last call was given and has left
        while True:
            waiting = self.incoming.waiting
            data = bytes(waiting if self.chunk is None else waiting[: held + self.chunk])
            room = self._next_room(call, len(data))
            plaintext += self._perform(call, data, room)
            p = self._progress
            moved = p.consumed > 0 or p.produced > 0 or len(data) > held
            self.incoming.take(p.consumed)
            held = len(data) - p.consumed
            if p.status == Status.NEED_OUTPUT:
                self._note_need_of_room(call, room)
            elif p.status != Status.NEED_INPUT or len(self.incoming.waiting) <= held:
                return bytes(plaintext), p.status
            elif again:
                require(moved, f"stall: a repeated {call.value} takes nothing of {len(data)} bytes")
            again = True

    def shake_hands(self) -> int:
        """The handshake as far as it goes, the rest of an alert included."""
        _, status = self.deliver(Call.HANDSHAKE)
        while status < 0 and self._progress.flags & Flag.HAS_OUTPUT:
            room = self._next_room(Call.HANDSHAKE, 0)
            self._perform(Call.HANDSHAKE, b"", room)
            same_status("handshake, for the rest of its alert", self._progress.status, status)
            if not self._progress.produced:
                require(room == 0, "stall: the rest of the alert does not come")
                self._asked = self._progress.waiting
        if status == Status.OK or status < 0:
            self.handshake_over = True
        if status == Status.OK and self.opened_at is None:
            self.opened_at = len(self.outgoing.put)
        return status

    def send(self, call: Call, data: bytes = b"") -> int:
        """Repeat a call that takes no wire bytes; return the last status. What is left of data is not returned: OK has
        consumed all."""
        self._asked = 0
        while True:
            room = self._next_room(call, len(data))
            self._perform(call, data, room)
            data = data[self._progress.consumed :]
            if self._progress.status != Status.NEED_OUTPUT:
                return self._progress.status
            self._note_need_of_room(call, room)

    # Events

    def take_sessions(self) -> ss.Session | None:
        """The newest of those that have come."""
        newest = None
        while self.made is not None and (session := self.made.take_session()):
            newest, self.sessions = session, self.sessions + 1
        return newest

    def take_events(self) -> None:
        if self.made is None:
            return
        while event := self.made.next_event():
            same("lost events", event.lost, 0)
            if event.kind == ss.EventKind.KEY_LOG:
                self.lines.append(event.data.decode("latin-1"))
            elif event.kind != ss.EventKind.SESSION:
                self.events.append(event)
        same("lost events", self.made.counter(ss.Counter.EVENTS_LOST), 0)
