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
    over: str = "memory"
    fresh_configs: bool = False
    threads: int = 1
    streams: int = 0
    long: bool = False

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
            case "over" if value in _WAYS:
                self.over = value
            case "configs" if value in ("shared", "fresh"):
                self.fresh_configs = value == "fresh"
            case "run" if value == "long":
                self.long = True
            case "minimum_rsa" | "size" | "rounds" | "total" | "threads" | "streams" if int(value) > 0:
                setattr(self, key, int(value))
            case _:
                raise KeyError(key)


_KINDS = ("write_read", "read_write", "concurrent", "transfer", "handshake", "resumed", "early", "echo", "idle")
_WAYS = ("memory", "pipe", "ipv4", "ipv6")
_MOST_THREADS = 16


def _fault(case: Case) -> str:
    """What README.md, section 1, does not allow; "": nothing."""
    kind = case.kind
    if kind not in _KINDS:
        return f"kind '{kind}'?"
    if (not case.size) != (kind in ("handshake", "resumed", "idle")):
        return "size"
    if kind in ("resumed", "early") and (case.client or case.minimum_rsa):
        return "resumption"
    if kind == "transfer" and (not case.total or case.total % case.size):
        return "total is no multiple of size"
    if kind != "handshake" and (case.over != "memory" or case.fresh_configs):
        return "no handshake"
    most_threads = 1 if case.fresh_configs or kind not in ("handshake", "echo") else _MOST_THREADS
    if case.threads > most_threads:
        return "threads"
    may_have_streams = kind in ("handshake", "echo", "idle")
    if case.streams % 2 or (case.streams and not may_have_streams) or (kind == "idle" and not case.streams):
        return "streams"
    return ""


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
    if fault := _fault(case):
        raise BadCase(f"{name}: {fault}")
    return case


def read_cases(path: Path) -> list[Case]:
    """In the order of the file. Raises `BadCase`."""
    lines = path.read_text().splitlines()
    return [_read_case(line) for line in lines if line.strip() and not line.startswith("#")]
