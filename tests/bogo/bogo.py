"""Runs BoringSSL's TLS test runner against the shim, shows progress, and judges the outcome by config.txt.

All cases run, those too that config.txt excuses: a pattern that excuses nothing any more is a failure. The last line on
stdout is "N passed, N failed, N skipped"; skipped are the cases that the shim cannot do and the excused ones.
"""

import argparse
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

# How many session tickets the shim's server sends before its half-RTT data: as many as it is told to make.
HALF_RTT_TICKETS = 2
STEP = 500


def read_config(path):
    """Returns the excuses, pattern -> reason, and the map of errors."""
    excuses, errors, reason = {}, {}, None
    with open(path, encoding="utf-8") as text:
        lines = text.read().splitlines()
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("= "):
            reason = line[2:]
        elif " -> " in line:
            name, words = line.split(" -> ")
            errors[name.strip()] = [word.strip() for word in words.split(" | ")]
        elif reason and " " not in line and line not in excuses:
            excuses[line] = reason
        else:
            sys.exit(f"{path}:{number}: a pattern without a reason, with a space, or twice: {line}")
    return excuses, errors


class Outcome:
    """Counts what the runner says of each case."""

    def __init__(self, excuses):
        self.patterns = [(pattern, re.compile(fnmatch.translate(pattern))) for pattern in excuses]
        self.counts = collections.Counter()
        self.used = set()
        self.failures = []

    def add(self, kind, name, text):
        fitting = [pattern for pattern, compiled in self.patterns if compiled.match(name)]
        if kind == "FAILED" and fitting:
            kind = "EXCUSED"
            self.used.update(fitting)
        elif kind == "FAILED":
            self.failures.append(f"{name}\n{text}")
        self.counts[kind] += 1
        done = sum(self.counts.values())
        if done % STEP == 0:
            show(f"{done} cases: {self.line()}")

    def line(self):
        count = self.counts
        return (
            f"{count['PASSED']} passed, {count['FAILED']} failed, {count['UNIMPLEMENTED']} not implemented, "
            f"{count['EXCUSED']} excused"
        )


def show(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def follow(output, outcome):
    """Each case begins with a line of its own, behind which a failure is explained."""
    begin = re.compile(r"(PASSED|FAILED|UNIMPLEMENTED) \((.*)\)$")
    case, text = None, []
    for line in output:
        found = begin.match(line.rstrip("\n"))
        if not found:
            text.append(line)
            continue
        if case:
            outcome.add(*case, "".join(text))
        case, text = found.groups(), []
    if case:
        outcome.add(*case, "".join(text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runner", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--build", required=True, help="where the runner's files go")
    parser.add_argument("--config", required=True)
    parser.add_argument("--only", help="patterns of cases, with semicolons between")
    options = parser.parse_args()
    excuses, errors = read_config(options.config)
    config = os.path.join(options.build, "config.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"ErrorMap": errors, "HalfRTTTickets": HALF_RTT_TICKETS}, out, indent=1)

    command = [options.runner, "-test.timeout", "0", "-pipe", "-allow-unimplemented", "-shim-path", options.shim]
    command += ["-shim-config", config, "-num-workers", str(os.cpu_count())]
    if options.only:
        command += ["-test", options.only]
    outcome = Outcome(excuses)
    folder = os.path.dirname(options.runner)
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        follow(run.stdout, outcome)
    stale = [] if options.only else [pattern for pattern in excuses if pattern not in outcome.used]
    for failure in outcome.failures:
        show(f"failed: {failure}")
    for pattern in stale:
        show(f"failed: no case fails any more that config.txt excuses by {pattern}")
    count = outcome.counts
    show(outcome.line())
    failed = count["FAILED"] + len(stale)
    print(f"{count['PASSED']} passed, {failed} failed, {count['UNIMPLEMENTED'] + count['EXCUSED']} skipped")
    return 1 if failed or not count["PASSED"] else 0


if __name__ == "__main__":
    sys.exit(main())
