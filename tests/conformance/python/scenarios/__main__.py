"""run [--in FOLDER] --list | --run CASE | --run-all (README.md, section 9)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .run import run
from .scenario import BadFile, Case, read_scenarios
from support import ROOT

_FOLDER = ROOT / "tests" / "conformance"


def _run_named(cases: list[Case], name: str) -> int:
    for case in cases:
        if case.name == name:
            message = run(case)
            if message:
                print(message)
            return 1 if message else 0
    print(f"no case '{name}'", file=sys.stderr)
    return 1


def _run_all(cases: list[Case]) -> int:
    failed = 0
    for case in cases:
        message = run(case)
        result = {"scenario": case.scenario.name, "variant": case.variant, "result": "fail" if message else "pass"}
        print(json.dumps({**result, "message": message}), flush=True)
        failed += bool(message)
    return 1 if failed or not cases else 0


def main(arguments: list[str]) -> int:
    folder = _FOLDER
    if len(arguments) > 1 and arguments[0] == "--in":
        folder, arguments = Path(arguments[1]), arguments[2:]
    try:
        cases = [case for scenario in read_scenarios(folder) for case in scenario.cases()]
    except BadFile as bad:
        print(bad, file=sys.stderr)
        return 2
    match arguments:
        case ["--list"]:
            print("\n".join(case.name for case in cases))
            return 0
        case ["--run", name]:
            return _run_named(cases, name)
        case ["--run-all"]:
            return _run_all(cases)
    print(f"usage: {__doc__}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
