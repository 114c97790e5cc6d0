"""run [--ms N] --list | --run CASE ... | --run-all (README.md, section 6)."""

from __future__ import annotations

import json
import sys

from securestream import SecureStreamError
from support import ROOT

from .cases import BadCase, Case, read_cases
from .measure import measure
from .pair import Unexpected

_CASES = ROOT / "tests" / "performance" / "cases.txt"


def _run(cases: list[Case], milliseconds: int) -> int:
    code = 0
    for case in cases:
        try:
            print(json.dumps(measure(case, milliseconds)), flush=True)
        except (SecureStreamError, Unexpected, OSError) as failure:
            print(f"{case.name}: {failure}", file=sys.stderr)
            code = 1
    return code


def _run_named(cases: list[Case], names: list[str], milliseconds: int) -> int:
    known = {case.name: case for case in cases}
    for name in names:
        if name not in known:
            print(f"no case '{name}'", file=sys.stderr)
    code = _run([known[name] for name in names if name in known], milliseconds)
    return code if known.keys() >= set(names) else 1


def main(arguments: list[str]) -> int:
    milliseconds = 500
    if len(arguments) > 1 and arguments[0] == "--ms" and arguments[1].isdecimal() and int(arguments[1]):
        milliseconds, arguments = int(arguments[1]), arguments[2:]
    try:
        cases = read_cases(_CASES)
    except BadCase as bad:
        print(bad, file=sys.stderr)
        return 2
    match arguments:
        case ["--list"]:
            print("\n".join(case.name for case in cases))
            return 0
        case ["--run", _, *_]:
            return _run_named(cases, arguments[1:], milliseconds)
        case ["--run-all"]:
            return _run([case for case in cases if not case.long], milliseconds)
    print(f"usage: {__doc__}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
