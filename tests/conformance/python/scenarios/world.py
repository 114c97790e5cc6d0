"""What a case has while its steps run: two sides, the wires between them, and what given steps have said."""

from __future__ import annotations

import securestream as ss
from support import VERSIONS

from .clauses import carry_out
from .forge import Forger
from .form import Clause
from .side import Side
from .wire import Wire

ROLES = {"client": ss.Role.CLIENT, "server": ss.Role.SERVER}
OTHER = {"client": "server", "server": "client"}


def _size(value: str | None) -> int | None:
    """Of a chunk or a room; None: whole, plenty."""
    if value in (None, "whole", "plenty"):
        return None
    return 1 if value == "byte" else int(value or 0)


class World:
    def __init__(self, values: dict[str, str]) -> None:
        self.version = VERSIONS[values["version"]] if "version" in values else None
        to_client, to_server = Wire(), Wire()
        chunk, room = _size(values.get("chunk")), _size(values.get("room"))
        self.sides = {
            "client": Side(ss.Role.CLIENT, to_client, to_server, chunk, room),
            "server": Side(ss.Role.SERVER, to_server, to_client, chunk, room),
        }
        self.plans: dict[str, list[Clause]] = {"client": [], "server": []}
        self._forgers: dict[str, Forger] = {}  # by the role that could have sealed

    def make(self) -> None:
        """Both streams, once."""
        for role, side in self.sides.items():
            if side.made is None:
                making = carry_out(self.plans[role], ROLES[role], self.version)
                side.leaves_partial = making.options.get("leave_partial", False)
                side.made = making.make()

    def try_to_make(self, role: str, clauses: list[Clause]) -> int:
        """The code of the first failure of such a config and stream; OK: there is none."""
        try:
            carry_out(clauses, ROLES[role], self.version).make()
        except ss.SecureStreamError as error:
            return error.code
        return ss.Status.OK

    def take_events(self) -> None:
        for side in self.sides.values():
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
