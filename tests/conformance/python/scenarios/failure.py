"""How a case fails."""

from __future__ import annotations


class Failure(Exception):
    """What was expected, and what was seen."""


def require(holds: bool, message: str) -> None:
    if not holds:
        raise Failure(message)


def same(what: str, got: object, expected: object) -> None:
    if got != expected:
        raise Failure(f"{what}: expected {shown(expected)}, got {shown(got)}")


def shown(value: object) -> str:
    if isinstance(value, (bytes, bytearray)):
        text = repr(bytes(value[:32]))[1:]
        return text if len(value) <= 32 else f"{len(value)} bytes {text}..."
    return str(value)
