"""Runs one case."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import securestream as ss

from . import actions, answers, clauses, facts, questions, sessions, then, touch  # the forms
from .failure import Failure, require, same
from .form import Form, understand
from .scenario import Case, Line
from .tokens import BadLine, cut
from .world import World

_FORMS = (actions, answers, clauses, facts, questions, sessions, then, touch)
_EXPECTED = (Failure, ss.SecureStreamError, OSError, OverflowError)


class _Step(NamedTuple):
    line: Line
    form: Form
    values: list[Any]


class _Fails(Exception):
    """With the place."""


def _place(case: Case, line: Line) -> str:
    return f"{case.scenario.name}.scn:{line.number}"


def _read_step(case: Case, line: Line) -> _Step:
    try:
        sentence = case.sentence(line)
        known = understand(line.verb, cut(sentence))
    except KeyError:
        raise _Fails(f"{_place(case, line)}: a <name> that no variants line has: {line.sentence}") from None
    except BadLine as bad:
        raise _Fails(f"{_place(case, line)}: {bad}: {line.sentence}") from None
    if known is None:
        raise _Fails(f"{_place(case, line)}: unknown step: {sentence}")
    return _Step(line, *known)


def _run_steps(case: Case, steps: list[_Step]) -> None:
    world = World(case.values)
    for step in steps:
        try:
            if step.line.verb != "given":
                world.make()
            step.form.perform(world, *step.values)
            world.take_events()
        except _EXPECTED as failure:
            what = str(failure) if isinstance(failure, Failure) else f"{type(failure).__name__}: {failure}"
            raise _Fails(f"{_place(case, step.line)}: {what}") from None


def _run(case: Case) -> None:
    steps = [_read_step(case, line) for line in case.scenario.lines]  # all are understood before one is taken
    objects, first_bytes = ss.live_objects(), None
    for _ in range(case.scenario.repeat or 1):
        _run_steps(case, steps)
        gc.collect()
        same("live objects of the library", ss.live_objects(), objects)
        held = ss.allocated_bytes()
        first_bytes = held if first_bytes is None else first_bytes
        require(held <= first_bytes, f"allocated bytes: {first_bytes} after the first run, {held} later")


def run(case: Case) -> str:
    """Return what failed; "": nothing."""
    gc.collect()
    try:
        _run(case)
    except _Fails as failure:
        return str(failure)
    except Failure as failure:
        return f"{case.scenario.name}.scn: {failure}"
    return ""
