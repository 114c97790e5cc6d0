"""Reads the public header as text: its functions with their comments, and its constants.

The header keeps to a small part of C (abi/README.md), so a few patterns are enough; what they do not know stops them.
"""

import dataclasses
import re
import sys


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: str
    comment: str  # the block directly above, shared by the prototypes that follow it
    line: int


def _fail(message):
    sys.exit(f"header: {message}")


def without_comments(text):
    """The text with comments blanked out, lines kept."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def functions(text):
    """Every SST_API prototype in order."""
    found = []
    comment = ""
    position = 0
    token = re.compile(r"/\*.*?\*/|//[^\n]*|^SST_API\b[^;{]*;|^[^\s/][^\n]*", flags=re.S | re.M)
    while match := token.search(text, position):
        position = match.end()
        piece = match.group()
        if piece.startswith("/*"):
            comment = piece
        elif piece.startswith("SST_API"):
            line = text.count("\n", 0, match.start()) + 1
            flat = " ".join(without_comments(piece).split())
            parts = re.fullmatch(r"SST_API (.+?)\b(\w+) ?\((.*)\);", flat)
            if not parts:
                _fail(f"line {line}: not a prototype: {flat}")
            found.append(Function(parts[2], parts[1].strip(), parts[3].strip(), comment, line))
        elif not piece.startswith("//"):
            comment = ""  # another declaration stands between
    return found


def constants(text):
    """Names of all enum constants and object-like SST_ macros that have a value."""
    code = without_comments(text)
    names = []
    for body in re.findall(r"\benum\b[^;{(]*\{([^}]*)\}", code):
        for entry in body.split(","):
            name = re.match(r"\s*(\w+)", re.sub(r"^\s*#.*$", "", entry, flags=re.M))
            if name:
                names.append(name[1])
    for line in code.replace("\\\n", " ").splitlines():
        macro = re.match(r"\s*#\s*define\s+(SST_\w+)(\(?)\s*(.*)", line)
        if not macro or macro[1] == "SST_API":
            continue
        name, is_function, value = macro.groups()
        if is_function:
            _fail(f"{name} is a function-like macro")
        if value.strip():
            names.append(name)
    return list(dict.fromkeys(names))
