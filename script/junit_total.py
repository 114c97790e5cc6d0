#!/usr/bin/env python3
"""junit_total.py FILE FAILURES: what ctest's report says, as "N passed, N failed, N skipped" on stdout.

On stderr: why tests were skipped, and what passed tests had to tell (their lines that begin with "note: "). Tests that
failed are added to the file FAILURES, each with the end of its output.
"""

import sys
import xml.etree.ElementTree as tree

LAST_LINES = 30


def note_failure(name: str, lines: list[str]) -> None:
    with open(sys.argv[2], "a", encoding="utf-8") as failures:
        print(f"failed: {name}", *(f"    {line}" for line in lines[-LAST_LINES:]), sep="\n", file=failures)


counts = {"run": 0, "fail": 0, "notrun": 0, "disabled": 0}
for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
    status = case.get("status")
    counts[status] = counts.get(status, 0) + 1
    lines = (case.findtext("system-out") or "").splitlines()
    if status == "notrun":
        reason = next((line for line in reversed(lines) if line.strip()), "the program was not found")
        print(f"skipped {case.get('name')}: {reason.removeprefix('skipped: ')}", file=sys.stderr)
    elif status == "fail":
        note_failure(case.get("name"), lines)
    elif status == "run":
        for line in lines:
            if line.startswith("note: "):
                print(f"{case.get('name')}: {line.removeprefix('note: ')}", file=sys.stderr)
# A test that could not be started is "notrun" as a skipped one is; it has no message "SKIP_RETURN_CODE=77".
lost = sum(1 for case in tree.parse(sys.argv[1]).getroot().iter("testcase") for skipped in case.iter("skipped")
           if "SKIP_" not in (skipped.get("message") or ""))
print(f"{counts['run']} passed, {counts['fail'] + lost} failed, {counts['notrun'] - lost + counts['disabled']} skipped")
