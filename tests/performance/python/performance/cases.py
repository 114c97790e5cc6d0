"""The cases of tests/performance/cases.txt (README.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from securestream import Version
from support import GROUPS, VERSIONS


class BadCase(Exception):
    """A line that this driver does not know. It never leaves a case out."""


@dataclass
class Case:
    name: str
    kind: str
    version: Version = Version.TLS1_3
    groups: tuple[int, ...] = (GROUPS["x25519"], GROUPS["secp256r1"])
    leaf: str = "server-p256"
    client: str = ""  # none
    minimum_rsa: int = 0  # the library's
    size: int = 0
    rounds: int = 1
    total: int = 0

    def set(self, key: str, value: str) -> None:
        match key:
            case "version":
                self.version = VERSIONS[value]
            case "groups":
                self.groups = tuple(GROUPS[name] for name in value.split(","))
            case "leaf":
                self.leaf = value
            case "client":
                self.client = value
            case "minimum_rsa" | "size" | "rounds" | "total" if int(value) > 0:
                setattr(self, key, int(value))
            case _:
                raise KeyError(key)


_KINDS = ("write_read", "read_write", "concurrent", "transfer", "handshake")


def _read_case(line: str) -> Case:
    name, *words = line.split()
    kind, *pairs = words or [""]
    case = Case(name, kind)
    for pair in pairs:
        key, _, value = pair.partition("=")
        try:
            case.set(key, value)
        except (KeyError, ValueError):
            raise BadCase(f"{name}: {pair}?") from None
    if kind not in _KINDS:
        raise BadCase(f"{name}: kind '{kind}'?")
    if kind != "handshake" and not case.size:
        raise BadCase(f"{name}: no size")
    if kind == "transfer" and (not case.total or case.total % case.size):
        raise BadCase(f"{name}: total is no multiple of size")
    return case


def read_cases(path: Path) -> list[Case]:
    """In the order of the file. Raises `BadCase`."""
    lines = path.read_text().splitlines()
    return [_read_case(line) for line in lines if line.strip() and not line.startswith("#")]
