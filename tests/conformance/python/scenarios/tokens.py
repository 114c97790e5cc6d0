"""Lines are cut into tokens (README.md, section 1). Text is a string of bytes, each a character from U+0000 to U+00FF."""

from __future__ import annotations

import re
from typing import NamedTuple

_BLANKS = re.compile(r"[ \t\r\v\f]+")
_WORD = re.compile(r'[^ \t\r\v\f",]+')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))")
_ESCAPES = {'"': '"', "\\": "\\", "r": "\r", "n": "\n", "t": "\t"}


class Token(NamedTuple):
    kind: str  # "word", "string", "comma"
    text: str

    @property
    def data(self) -> bytes:
        return self.text.encode("latin-1")


class BadLine(Exception):
    """A line that has no tokens."""


def cut(line: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(line):
        if blanks := _BLANKS.match(line, at):
            at = blanks.end()
        elif line[at] == ",":
            tokens.append(Token("comma", ","))
            at += 1
        elif line[at] == '"':
            string = _STRING.match(line, at)
            if not string:
                raise BadLine("a string without its closing quote")
            tokens.append(Token("string", _ESCAPE.sub(_escaped, string[1])))
            at = string.end()
        else:
            word = _WORD.match(line, at)
            assert word
            tokens.append(Token("word", word[0]))
            at = word.end()
    return tokens


def _escaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] not in _ESCAPES:
        raise BadLine(f"an unknown escape in a string: {escape[0]}")
    return _ESCAPES[escape[2]]
