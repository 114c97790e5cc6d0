#!/usr/bin/env python3
"""report.py LANGUAGE=PROGRAM…: runs the drivers of tests/performance (README.md) and prints case x language.

ns is the best pass per op. Behind it: bytes allocated per op, by the library + by the language. A driver that is not
there is a column of dashes; one that lacks a case or prints something else fails. --ms N and --json FILE come first.
The last line is "N passed, N failed, N skipped".
"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NUMBERS = ("ns_per_op", "ns_median", "ops")
MAYBE = ("library_allocations", "library_bytes", "language_allocations", "language_bytes", "bytes_per_s")


def case_names():
    lines = (line.split() for line in (HERE / "cases.txt").read_text().splitlines())
    return [words[0] for words in lines if words and not words[0].startswith("#")]


def is_result(result):
    return (isinstance(result, dict) and all(isinstance(result.get(key), (int, float)) and result[key] > 0 for key in NUMBERS)
            and all(key in result and isinstance(result[key], (int, float, type(None))) for key in MAYBE))


def run(program, milliseconds):
    """{case: result} of a driver, as its lines come, and what was wrong."""
    found, faults = {}, []
    with subprocess.Popen([program, "--ms", milliseconds, "--run-all"], stdout=subprocess.PIPE, text=True, cwd=ROOT) as driver:
        for line in driver.stdout:
            try:
                result = json.loads(line)
            except ValueError:
                result = None
            if not is_result(result) or result.get("case") in found:
                faults.append(f"not a result, or a second one: {line.strip()[:200]}")
                continue
            found[result["case"]] = result
            print(f"   {result['case']}", file=sys.stderr, flush=True)
    if driver.returncode != 0:
        faults.append(f"ended with {driver.returncode}")
    return found, faults


def shown(number):
    return "?" if number is None else f"{number:.0f}"


def cell(result):
    if result is None:
        return "-"
    return f"{result['ns_per_op']:.0f} ns {shown(result['library_bytes'])}+{shown(result['language_bytes'])} B"


def main(arguments):
    milliseconds, out = "500", None
    while arguments and arguments[0] in ("--ms", "--json"):
        if arguments[0] == "--ms":
            milliseconds = arguments[1]
        else:
            out = arguments[1]
        arguments = arguments[2:]
    found, faults, passed, missing = {}, [], 0, 0
    names = case_names()
    for argument in arguments:
        language, program = argument.split("=", 1)
        found[language] = {}
        if not os.access(program, os.X_OK):
            print(f"== {language}: no driver yet", file=sys.stderr)
            missing += 1
            continue
        print(f"== {language}", file=sys.stderr, flush=True)
        found[language], wrong = run(program, milliseconds)
        wrong += [f"no result for {name}" for name in names if name not in found[language]]
        wrong += [f"no such case: {name}" for name in found[language] if name not in names]
        faults += [f"{language}: {fault}" for fault in wrong]
        passed += len(found[language])
    if not found:
        sys.exit(__doc__)
    print(f"{'per op':36}" + "".join(f"{language:>34}" for language in found))
    for name in names:
        print(f"{name:36}" + "".join(f"{cell(results.get(name)):>34}" for results in found.values()))
    for fault in faults:
        print(fault)
    if out:
        lines = (json.dumps(result) + "\n" for results in found.values() for result in results.values())
        pathlib.Path(out).write_text("".join(lines))
    print(f"{passed} passed, {len(faults)} failed, {missing} skipped")
    sys.exit(0 if passed > 0 and not faults else 1)


main(sys.argv[1:])
