"""Files of scenarios and the cases in them (README.md, sections 1 and 2)."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

from .tokens import BadLine, Token, cut

_VERBS = ("given", "when", "then")
_BLANKS = " \t\r\v\f"
_NUMBER = re.compile(r"[0-9]+")


class BadFile(Exception):
    """A file that does not parse."""


class Line(NamedTuple):
    number: int
    verb: str
    sentence: str


@dataclass
class Scenario:
    name: str
    variants: dict[str, list[str]] = field(default_factory=dict)
    repeat: int = 0  # 0: not said
    lines: list[Line] = field(default_factory=list)

    def cases(self) -> list[Case]:
        """In order: the value of the last variants line changes first."""
        return [Case(self, dict(zip(self.variants, values))) for values in itertools.product(*self.variants.values())]


@dataclass
class Case:
    scenario: Scenario
    values: dict[str, str]

    @property
    def variant(self) -> str:
        return "_".join(_name_of(name, value) for name, value in self.values.items()) or "once"

    @property
    def name(self) -> str:
        return f"{self.scenario.name}.{self.variant}"

    def sentence(self, line: Line) -> str:
        """With the chosen values in their places. Raises `KeyError` for a name that no variants line has."""
        return re.sub("<([^>]*)>", lambda name: self.values[name[1]], line.sentence)


def _name_of(name: str, value: str) -> str:
    if name == "version":
        return {"1.2": "tls12", "1.3": "tls13"}[value]
    if name == "chunk" and value == "byte":
        return "bytewise"
    if name in ("chunk", "room") and _NUMBER.fullmatch(value):
        return f"{name}_{value}"
    return re.sub("[^a-z0-9]+", "_", value.lower())


def _can_be(name: str, value: str) -> bool:
    """Whether a variant may have this value."""
    if name == "version":
        return value in ("1.2", "1.3")
    if name == "chunk":
        return value in ("whole", "byte") or bool(_NUMBER.fullmatch(value))
    if name == "room":
        return value == "plenty" or bool(_NUMBER.fullmatch(value))
    return True


class _Reader:
    """Reads one file, line by line."""

    def __init__(self, name: str) -> None:
        self.scenario = Scenario(name)
        self.number = 0
        self.verb = ""

    def refuse(self, message: str) -> NoReturn:
        raise BadFile(f"{self.scenario.name}.scn:{self.number}: {message}")

    def read(self, data: bytes) -> Scenario:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse("not UTF-8")
        part = "title"
        for self.number, line in enumerate(data.decode("latin-1").split("\n"), 1):
            line = line.strip(_BLANKS)
            if line.startswith("#"):
                continue
            if part == "title" and not line:
                self.refuse("line 1 is the title")
            if part == "body" and line:
                self.read_line(line)
            part = "body" if part == "body" or not line else "prose"
        if not self.scenario.lines:
            self.refuse("there are no steps")
        names = [case.variant for case in self.scenario.cases()]
        for name in names:
            if names.count(name) > 1:
                self.refuse(f"two cases are called {name}")
        return self.scenario

    def read_line(self, line: str) -> None:
        word, rest = (*re.split(f"[{_BLANKS}]+", line, maxsplit=1), "")[:2]
        if word not in ("variants:", "repeat:"):
            self.read_step(word, rest)
        elif self.scenario.lines:
            self.refuse("headers stand before the first step")
        elif word == "variants:":
            self.read_variants(rest)
        elif not _NUMBER.fullmatch(rest) or int(rest) == 0:
            self.refuse("repeat: needs a number")
        else:
            self.scenario.repeat = int(rest)

    def read_variants(self, rest: str) -> None:
        try:
            name, *values = cut(rest) or [Token("comma", ",")]
        except BadLine as bad:
            self.refuse(str(bad))
        if name.kind != "word" or len(values) % 2 == 0:
            self.refuse("variants need a name and values")
        for i, value in enumerate(values):
            if (value.kind == "comma") != (i % 2 == 1):
                self.refuse("values are separated by commas")
            if value.kind != "comma":
                if not _can_be(name.text, value.text):
                    self.refuse(f"{name.text} cannot be {value.text}")
                self.scenario.variants.setdefault(name.text, []).append(value.text)

    def read_step(self, word: str, rest: str) -> None:
        if word in _VERBS:
            self.verb = word
        elif word != "and" or not self.verb:
            self.refuse(f"'{word}' is no verb")
        if not rest:
            self.refuse("a verb without a sentence")
        lines = self.scenario.lines
        if self.verb == "given" and lines and lines[-1].verb != "given":
            self.refuse("given stands before all other steps")
        lines.append(Line(self.number, self.verb, rest))


def read_scenarios(folder: Path) -> list[Scenario]:
    """All files of a folder, by name. Raises `BadFile`."""
    paths = sorted(folder.glob("*.scn"), key=lambda path: path.stem)
    if not paths:
        raise BadFile(f"no scenarios in {folder}")
    for path in paths:
        if not re.fullmatch("[a-z0-9_]+", path.stem):
            raise BadFile(f"{path.name}: a name has the characters a-z, 0-9 and _")
    return [_Reader(path.stem).read(path.read_bytes()) for path in paths]
