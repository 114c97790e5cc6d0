#!/usr/bin/env python3
"""report.py [--ms N] [--json FILE] LANGUAGE=PROGRAM…: runs the drivers of tests/performance (README.md) and prints case x
language.

ns is the best pass per op; behind it bytes allocated per op, by the library + by the language. Then handshakes and
echoes per second, what resumption takes of the full handshake of the same version and certificate (the best passes, and
the medians), and what idle streams hold. A case with open streams gets a process of its own. A driver that is not
there is a column of dashes; one that lists other cases than cases.txt, lacks one or prints something else fails.

report.py --listed LANGUAGE=PROGRAM… only compares what the drivers list with cases.txt.

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
MAYBE = ("library_allocations", "library_bytes", "language_allocations", "language_bytes", "bytes_per_s", "per_s",
         "bytes_per_client", "bytes_per_server", "language_bytes_per_stream", "peak_rss")
RESUMING = ("resumed", "early")
WIDTH = 34


def read_cases():
    """{name: {key: value}}, the kind among them."""
    lines = (line.split() for line in (HERE / "cases.txt").read_text().splitlines())
    return {words[0]: {"kind": words[1], **dict(word.split("=", 1) for word in words[2:])}
            for words in lines if words and not words[0].startswith("#")}


def full_handshakes(cases):
    """{name: name of the full handshake of the same version and leaf} of the cases that resume."""
    full = {(keys["version"], keys["leaf"]): name for name, keys in cases.items()
            if keys["kind"] == "handshake" and keys.keys() == {"kind", "version", "leaf"}}
    return {name: full[keys["version"], keys["leaf"]] for name, keys in cases.items() if keys["kind"] in RESUMING}


def is_result(result):
    return (isinstance(result, dict)
            and all(isinstance(result.get(key), (int, float)) and result[key] > 0 for key in NUMBERS)
            and all(key in result and isinstance(result[key], (int, float, type(None))) for key in MAYBE))


def run(program, milliseconds, names):
    """{case: result} of a driver, as its lines come, and what was wrong."""
    found, faults = {}, []
    command = [program, "--ms", milliseconds, "--run", *names]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as driver:
        for line in driver.stdout:
            try:
                result = json.loads(line)
            except ValueError:
                result = None
            if not is_result(result) or result.get("case") not in names or result["case"] in found:
                faults.append(f"not a result, or one that was not asked for: {line.strip()[:200]}")
                continue
            found[result["case"]] = result
            print(f"   {result['case']}", file=sys.stderr, flush=True)
    if driver.returncode != 0:
        faults.append(f"{names[0]}: ended with {driver.returncode}")
    return found, faults + [f"no result for {name}" for name in names if name not in found]


def listed(program, cases):
    """What is wrong with the driver's list."""
    done = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    names = done.stdout.split()
    if done.returncode == 0 and names == list(cases):
        return []
    differing = sorted(set(names) ^ set(cases)) or ["their order"]
    return [f"--list ended with {done.returncode}, and differs from cases.txt in {', '.join(differing)}"]


def measured(program, milliseconds, cases):
    groups = [[name for name, keys in cases.items() if "streams" not in keys]]
    groups += [[name] for name, keys in cases.items() if "streams" in keys]
    found, faults = {}, listed(program, cases)
    for names in groups if not faults else ():
        results, wrong = run(program, milliseconds, names)
        found |= results
        faults += wrong
    return found, faults


def shown(number):
    return "?" if number is None else f"{number:.0f}"


def op_cell(result):
    return f"{result['ns_per_op']:.0f} ns {shown(result['library_bytes'])}+{shown(result['language_bytes'])} B"


def rate_cell(result):
    return f"{result['per_s']:.0f}"


def idle_cell(result):
    held = " ".join(shown(result[key]) for key in ("bytes_per_client", "bytes_per_server"))
    rss = "?" if result["peak_rss"] is None else f"{result['peak_rss'] / 2**20:.1f}"
    return f"{held} +{shown(result['language_bytes_per_stream'])} B, {rss} MiB"


def print_table(title, found, names, key, cell):
    """Those of the cases whose results have the key."""
    print(f"{title:36}" + "".join(f"{language:>{WIDTH}}" for language in found))
    for name in names:
        row = [results.get(name) for results in found.values()]
        if any(result is not None and result[key] is not None for result in row):
            print(f"{name:36}" + "".join(f"{'-' if result is None else cell(result):>{WIDTH}}" for result in row))
    print()


def with_ratios(results, full):
    """Of the cases that resume and of what they are compared with, the ratios of the times."""
    there = {name: other for name, other in full.items() if name in results and other in results}
    return {name: {key: results[name][key] / results[other][key] for key in ("ns_per_op", "ns_median")}
            for name, other in there.items()}


def ratio_cell(ratios):
    return f"{ratios['ns_per_op']:.3f} (medians {ratios['ns_median']:.3f})"


def print_tables(found, cases):
    print_table("per op", found, cases, "ns_per_op", op_cell)
    print_table("handshakes or echoes a second", found, cases, "per_s", rate_cell)
    full = full_handshakes(cases)
    ratios = {language: with_ratios(results, full) for language, results in found.items()}
    print_table("resumed, of the full handshake", ratios, cases, "ns_per_op", ratio_cell)
    print_table("idle client, server +language; peak", found, cases, "bytes_per_client", idle_cell)


def main(arguments):
    options = {"--ms": "500", "--json": None}
    only_listed = arguments[:1] == ["--listed"]
    arguments = arguments[1:] if only_listed else arguments
    while arguments and arguments[0] in options:
        options[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    cases = read_cases()
    found, faults, passed, missing = {}, [], 0, 0
    for argument in arguments:
        language, program = argument.split("=", 1)
        found[language] = {}
        if not os.access(program, os.X_OK):
            print(f"== {language}: no driver yet", file=sys.stderr)
            missing += 1
            continue
        print(f"== {language}", file=sys.stderr, flush=True)
        if only_listed:
            wrong = listed(program, cases)
            passed += not wrong
        else:
            found[language], wrong = measured(program, options["--ms"], cases)
            passed += len(found[language])
        faults += [f"{language}: {fault}" for fault in wrong]
    if not found:
        sys.exit(__doc__)
    if not only_listed:
        print_tables(found, cases)
    for fault in faults:
        print(fault)
    if options["--json"]:
        lines = (json.dumps(result) + "\n" for results in found.values() for result in results.values())
        pathlib.Path(options["--json"]).write_text("".join(lines))
    print(f"{passed} passed, {len(faults)} failed, {missing} skipped")
    sys.exit(0 if passed > 0 and not faults else 1)


main(sys.argv[1:])
