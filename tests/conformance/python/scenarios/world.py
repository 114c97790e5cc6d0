"""What a case has while its steps run: two sides, the wires between them, and what given steps have said."""

from __future__ import annotations

import securestream as ss
from support import VERSIONS

from .clauses import Making, carry_out
from .failure import require
from .forge import Forger
from .form import Clause
from .rings import Rings
from .side import Side
from .wire import Wire

ROLES = {"client": ss.Role.CLIENT, "server": ss.Role.SERVER}
OTHER = {"client": "server", "server": "client"}


def _size(value: str | None) -> int | None:
    """Of a chunk or a room; None: whole, plenty."""
    if value in (None, "whole", "plenty"):
        return None
    return 1 if value == "byte" else int(value or 0)


def _sides(sizes: dict[str, tuple[int | None, int | None]]) -> dict[str, Side]:
    """With the chunk and the room of each."""
    to_client, to_server = Wire(), Wire()
    return {
        "client": Side(ss.Role.CLIENT, to_client, to_server, *sizes["client"]),
        "server": Side(ss.Role.SERVER, to_server, to_client, *sizes["server"]),
    }


class World:
    def __init__(self, values: dict[str, str]) -> None:
        self.version = VERSIONS[values["version"]] if "version" in values else None
        chunk, room = _size(values.get("chunk")), _size(values.get("room"))
        self.sides = _sides({role: (chunk, room) for role in ROLES})
        self.old: dict[str, Side] = {}  # of the connection before
        self.plans: dict[str, list[Clause]] = {"client": [], "server": []}
        self.configs: dict[bytes, list[Clause]] = {}  # that answers can bring
        self.rings = Rings()
        self.session: ss.Session | None = None  # the newest that came
        self._makings: dict[str, Making] = {}
        self._forgers: dict[str, Forger] = {}  # by the role that could have sealed

    def make(self) -> None:
        """Both streams, once."""
        for role, side in self.sides.items():
            if side.made is None:
                self._makings[role] = carry_out(self.plans[role], ROLES[role], self.version, self.rings)
                self._make(role)

    def _make(self, role: str, session: ss.Session | None = None) -> None:
        side, making = self.sides[role], self._makings[role]
        side.leaves_partial = making.options.get("leave_partial", False)
        side.made = making.make(session)

    def make_anew(self, session: ss.Session | None = None) -> None:
        """Both streams once more, the client's with a session; those that there are become the old ones."""
        self.old = self.sides
        self.sides = _sides({role: (side.chunk, side.room) for role, side in self.old.items()})
        self._forgers.clear()
        for role in self.sides:
            self._make(role, session if role == "client" else None)

    def reload(self, role: str, clauses: list[Clause]) -> None:
        self._makings[role].reload(clauses)

    def describe(self, name: bytes, clauses: list[Clause]) -> None:
        require(name not in self.configs, f"there is a config '{name.decode('latin-1')}' already")
        self.configs[name] = clauses

    def described(self, name: bytes) -> ss.Config:
        """A config that an answer brings, made anew."""
        require(name in self.configs, f"there is no config '{name.decode('latin-1')}'")
        making = carry_out(self.configs[name], ss.Role.SERVER, self.version, self.rings)
        require(not making.says_stream, "a config has no clauses of a stream")
        return making.config

    def own_config(self, role: str) -> ss.Config:
        return self._makings[role].config

    def try_to_make(self, role: str, clauses: list[Clause]) -> ss.SecureStreamError | None:
        """The first failure of such a config and stream."""
        try:
            carry_out(clauses, ROLES[role], self.version, self.rings).make()
        except ss.SecureStreamError as error:
            return error
        return None

    def take_events(self) -> None:
        for side in self.sides.values():
            self.session = side.take_sessions() or self.session
            side.take_events()

    def forge(self, to: str, kind: int, payload: bytes, count: int) -> None:
        """Put records on the wire to a role, sealed as its other would."""
        role = OTHER[to]
        side = self.sides[role]
        if role not in self._forgers:
            lines = self.sides["client"].lines + self.sides["server"].lines
            sent = side.outgoing.put[side.opened_at :] if side.opened_at is not None else b""
            self._forgers[role] = Forger(side.stream, lines, sent)
        for _ in range(count):
            side.outgoing.write(self._forgers[role].seal(kind, payload))
