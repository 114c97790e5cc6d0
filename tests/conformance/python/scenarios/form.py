"""Forms of sentences: words that must stand there, and placeholders (README.md, section 3).

    @form("when", "ROLE encrypts DATA")
    def encrypts(world: World, role: str, data: bytes) -> None: ...

is what is done for `when client encrypts "req"`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import securestream as ss
from support import VERSIONS, pattern

from .tokens import Token

_TYPES = {"change-cipher-spec": 20, "alert": 21, "handshake": 22, "application-data": 23}


class NoMatch(Exception):
    """The tokens are not what a placeholder or a word wants."""


class Cursor:
    """Tokens, and how far they are read."""

    def __init__(self, tokens: list[Token], at: int = 0) -> None:
        self.tokens = tokens
        self.at = at

    @property
    def is_at_end(self) -> bool:
        return self.at == len(self.tokens)

    def skip(self, words: str) -> bool:
        """Moves behind these words if they stand there."""
        wanted = [Token("word", word) for word in words.split()]
        if self.tokens[self.at : self.at + len(wanted)] != wanted:
            return False
        self.at += len(wanted)
        return True

    def next(self, *kinds: str) -> Token:
        if self.is_at_end or self.tokens[self.at].kind not in kinds:
            raise NoMatch
        self.at += 1
        return self.tokens[self.at - 1]

    def word(self, expression: str) -> str:
        """The next word, if it is of this kind."""
        word = self.next("word").text
        if not re.fullmatch(expression, word):
            raise NoMatch
        return word


def _number(cursor: Cursor) -> int:
    return int(cursor.word("[0-9]+"))


def _text(cursor: Cursor) -> bytes:
    return cursor.next("word", "string").data


def _list(cursor: Cursor) -> list[bytes]:
    values = [_text(cursor)]
    while not cursor.is_at_end and cursor.tokens[cursor.at].kind == "comma":
        cursor.next("comma")
        values.append(_text(cursor))
    return values


def _code(cursor: Cursor) -> int:
    if cursor.skip("alert"):
        return ss.Status.ERR_ALERT_RECEIVED - _number(cursor)
    code = code_of_name(cursor.next("word").text)
    if code is None:
        raise NoMatch
    return code


def code_of_name(name: str) -> int | None:
    return ss.Status.__members__.get(f"ERR_{name}")


def _alerts(cursor: Cursor) -> list[int]:
    alerts = [_number(cursor)]
    while cursor.skip("or"):
        alerts.append(_number(cursor))
    return alerts


def _type(cursor: Cursor) -> int:
    word = cursor.next("word").text
    number = _TYPES.get(word, int(word) if re.fullmatch("[0-9]+", word) else 256)
    if number > 255:
        raise NoMatch
    return number


def _data(cursor: Cursor) -> bytes:
    data = _atom(cursor)
    while cursor.skip("followed by"):
        data += _atom(cursor)
    return data


def _atom(cursor: Cursor) -> bytes:
    if not cursor.is_at_end and cursor.tokens[cursor.at].kind == "string":
        return cursor.next("string").data
    if cursor.skip("nothing"):
        return b""
    if not cursor.skip("bytes"):
        size = _number(cursor)
        if not cursor.skip("bytes of pattern"):
            raise NoMatch
        return pattern(size)
    data = b""
    while not data or not cursor.is_at_end:
        begin = cursor.at
        try:
            data += bytes.fromhex(cursor.word("[0-9a-fA-F]{2}"))
        except NoMatch:
            if not data:
                raise
            cursor.at = begin
            break
    return data


def _how(cursor: Cursor) -> bool:
    return cursor.skip("in place")


def _end(cursor: Cursor) -> int:
    if cursor.skip("and sees closed"):
        return ss.Status.CLOSED
    if cursor.skip("and sees truncated"):
        return ss.Status.ERR_TRUNCATED
    return _code(cursor) if cursor.skip("and fails with") else ss.Status.NEED_INPUT


def _day(cursor: Cursor) -> datetime.datetime:
    try:
        day = datetime.date.fromisoformat(cursor.word("[0-9]{4}-[0-9]{2}-[0-9]{2}"))
    except ValueError:
        raise NoMatch from None
    return datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.timezone.utc)


_QUESTIONS = {
    "client-hello": ss.Status.WANT_CLIENT_HELLO,
    "certificate": ss.Status.WANT_CERTIFICATE,
    "certificate-verify": ss.Status.WANT_CERTIFICATE_VERIFY,
    "private-key-operation": ss.Status.WANT_PRIVATE_KEY_OPERATION,
    "session": ss.Status.WANT_SESSION,
    "ticket-decrypt": ss.Status.WANT_TICKET_DECRYPT,
    "early-data-retry": ss.Status.WANT_EARLY_DATA_RETRY,
}


def _question(cursor: Cursor) -> ss.Status:
    return _QUESTIONS[cursor.word("|".join(_QUESTIONS))]


def _questions(cursor: Cursor) -> list[ss.Status]:
    questions = [_question(cursor)]
    while not cursor.is_at_end and cursor.tokens[cursor.at].kind == "comma":
        cursor.next("comma")
        questions.append(_question(cursor))
    return questions


class Clause(NamedTuple):
    """What a given step says of a config or a stream, as `clauses.py` carries it out; or an answer, of `answers.py`."""

    perform: Callable[..., None]
    values: list[Any]


def _clauses(cursor: Cursor) -> list[Clause]:
    clauses = []
    while any(cursor.skip(connector) for connector in ("with", "that", "and")):
        clauses.append(_clause(cursor))
    if not clauses:
        raise NoMatch
    return clauses


def _clause(cursor: Cursor) -> Clause:
    return _one_of(CLAUSES, cursor)


def _answer(cursor: Cursor) -> Clause:
    return _one_of(ANSWERS, cursor)


def _one_of(forms: list[Form], cursor: Cursor) -> Clause:
    for known in forms:
        begin = cursor.at
        try:
            return Clause(known.perform, _match(known.pattern, cursor))
        except NoMatch:
            cursor.at = begin
    raise NoMatch


_PLACEHOLDERS: dict[str, Callable[[Cursor], Any]] = {
    "ROLE": lambda cursor: cursor.word("client|server"),
    "N": _number,
    "V": lambda cursor: VERSIONS[cursor.word("1[.][23]")],
    "TEXT": _text,
    "LEAF": lambda cursor: cursor.next("word").text,
    "LIST": _list,
    "CODE": _code,
    "ALERTS": _alerts,
    "TYPE": _type,
    "DATA": _data,
    "HOW": _how,
    "END": _end,
    "DAY": _day,
    "CLAUSES": _clauses,
    "QUESTION": _question,
    "QUESTIONS": _questions,
    "ANSWER": _answer,
}


def _match(pattern: str, cursor: Cursor) -> list[Any]:
    """What the placeholders of a pattern match, from the cursor on."""
    values = []
    for part in pattern.split():
        if part in _PLACEHOLDERS:
            values.append(_PLACEHOLDERS[part](cursor))
        elif not cursor.skip(part):
            raise NoMatch
    return values


class Form(NamedTuple):
    pattern: str
    perform: Callable[..., None]


CLAUSES: list[Form] = []  # the first that matches counts: those with more words stand before those that begin alike
ANSWERS: list[Form] = []  # in the same way
FORMS: dict[str, list[Form]] = {"given": [], "when": [], "then": []}


def form(verb: str, *patterns: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The function is what is done for sentences of these patterns."""

    def add(perform: Callable[..., None]) -> Callable[..., None]:
        FORMS[verb].extend(Form(pattern, perform) for pattern in patterns)
        return perform

    return add


def clause(pattern: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The same for a clause."""

    def add(perform: Callable[..., None]) -> Callable[..., None]:
        CLAUSES.append(Form(pattern, perform))
        return perform

    return add


def answer(pattern: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The same for an answer."""

    def add(perform: Callable[..., None]) -> Callable[..., None]:
        ANSWERS.append(Form(pattern, perform))
        return perform

    return add


def understand(verb: str, tokens: list[Token]) -> tuple[Form, list[Any]] | None:
    """The form of a whole sentence and the values of its placeholders; None: there is none."""
    for known in FORMS[verb]:
        cursor = Cursor(tokens)
        try:
            values = _match(known.pattern, cursor)
        except NoMatch:
            continue
        if cursor.is_at_end:
            return known, values
    return None
