#!/usr/bin/env python3
"""What the drivers of scenarios have found (README.md, section 9).

    report.py table LANGUAGE=PROGRAM…   runs every driver and prints scenario x language; a gap is a failure
    report.py none-passes PROGRAM       runs the scenarios of wrong/; each of their cases must fail

The last line is "N passed, N failed, N skipped". A program that does not exist fails all cases.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=ROOT)


def results(program, *arguments):
    """{(scenario, variant): (result, message)} of a driver, and the names that it lists."""
    if not os.access(program, os.X_OK):
        return {}, [], f"there is no {program}"
    listed = run(program, *arguments, "--list")
    ran = run(program, *arguments, "--run-all")
    found = {}
    fault = None
    for line in ran.stdout.splitlines():
        try:
            case = json.loads(line)
            key = case["scenario"], case["variant"]
            if key in found:
                fault = f"two results for {'.'.join(key)}"
            found[key] = case["result"], case["message"]
        except (ValueError, KeyError, TypeError):
            fault = f"not a result: {line[:200]}"
    if listed.returncode != 0:
        fault = f"--list ended with {listed.returncode}: {listed.stderr.strip()[-200:]}"
    if fault is None and ran.returncode not in (0, 1):
        fault = f"--run-all ended with {ran.returncode}: {ran.stderr.strip()[-200:]}"
    all_passed = bool(found) and all(result == "pass" for result, _ in found.values())
    if fault is None and (ran.returncode == 0) != all_passed:
        fault = f"--run-all ended with {ran.returncode}, which is not what its results say"
    return found, listed.stdout.split(), fault


def total(passed, failed, skipped):
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(0 if passed > 0 and failed == 0 and skipped == 0 else 1)


def none_passes(program):
    found, listed, fault = results(program, "--in", str(HERE / "wrong"))
    wrong = [f"{'.'.join(key)}: {result}" for key, (result, _) in found.items() if result != "fail"]
    wrong += [f"{name}: no result" for name in listed if tuple(name.split(".", 1)) not in found]
    wrong += [fault] if fault else []
    for line in wrong:
        print(line)
    total(len(found) - len(wrong) if len(found) > len(wrong) else 0, len(wrong), 0)


def scenario_files():
    return sorted(path.stem for path in HERE.glob("*.scn"))


def table(programs):
    found, faults, names = {}, [], collections.OrderedDict()
    for language, program in programs.items():
        print(f"== {language}", file=sys.stderr, flush=True)
        found[language], listed, fault = results(program)
        faults += [f"{language}: {fault}"] if fault else []
        names.update((tuple(name.split(".", 1)), None) for name in listed)
        names.update((key, None) for key in found[language])
    missing = set(scenario_files()) - {scenario for scenario, _ in names}
    faults += [f"no driver runs {name}.scn" for name in sorted(missing)]

    by_scenario = collections.defaultdict(list)
    for scenario, variant in names:
        by_scenario[scenario].append(variant)
    counts = collections.Counter()
    width = max(map(len, by_scenario), default=8)
    print(f"{'scenario':{width}}  cases  " + "  ".join(f"{language:>9}" for language in programs))
    for scenario in sorted(by_scenario):
        cells = []
        for language in programs:
            cell = collections.Counter()
            for variant in by_scenario[scenario]:
                result, message = found[language].get((scenario, variant), ("lacks", "the driver lacks this case"))
                cell[result] += 1
                if result != "pass" and found[language]:
                    faults.append(f"{language}: {scenario}.{variant}: {result}: {message}")
            counts.update(cell)
            cases = len(by_scenario[scenario])
            cells.append("pass" if cell["pass"] == cases else f"{cell['pass']}/{cases}")
        print(f"{scenario:{width}}  {len(by_scenario[scenario]):5}  " + "  ".join(f"{cell:>9}" for cell in cells))
    for fault in faults:
        print(fault)
    others = sum(counts.values()) - counts["pass"] - counts["skip"]
    total(counts["pass"], max(others, 1 if faults else 0), counts["skip"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["none-passes"] and len(sys.argv) == 3:
        none_passes(sys.argv[2])
    elif sys.argv[1:2] == ["table"] and len(sys.argv) > 2:
        table(dict(argument.split("=", 1) for argument in sys.argv[2:]))
    else:
        sys.exit(__doc__)
