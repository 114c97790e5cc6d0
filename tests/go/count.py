#!/usr/bin/env python3
"""count.py FILE: shows failures of `go test -json` on stderr and prints "N passed, N failed, N skipped".

A case is a test or subtest that has no subtests of its own. A package that fails without a failed test counts as one.
Tests that failed are added to the file that SST_FAILURES names (script/lib.sh).
"""

import collections
import json
import os
import sys

output, results, parents = collections.defaultdict(list), {}, set()
for line in open(sys.argv[1], encoding="utf-8"):
    try:
        event = json.loads(line)
    except ValueError:
        print(line, end="", file=sys.stderr)
        continue
    key = event.get("Package") or event.get("ImportPath"), event.get("Test")
    if event["Action"] in ("output", "build-output"):
        output[key].append(event["Output"])
    elif event["Action"] in ("pass", "fail", "skip", "build-fail"):
        results[key] = event["Action"]
    if key[1] and "/" in key[1]:
        parents.add((key[0], key[1].rpartition("/")[0]))

count = collections.Counter()
for (package, test), result in results.items():
    failed_inside = any(r == "fail" and p == package and t for (p, t), r in results.items())
    whole = test is None
    if whole and (result in ("pass", "skip") or result == "fail" and failed_inside):
        continue
    if (package, test) in parents and not (result == "fail" and all(
            r != "fail" for (p, t), r in results.items() if p == package and t and t.startswith(f"{test}/"))):
        continue
    count["fail" if result == "build-fail" else result] += 1
    if result in ("fail", "build-fail"):
        said = "".join(output[package, test])
        print(said, end="", file=sys.stderr)
        with open(os.environ.get("SST_FAILURES", os.devnull), "a", encoding="utf-8") as failures:
            print(f"failed: {package} {test}", said, sep="\n", file=failures)
    elif result == "skip":
        print("".join(line for line in output[package, test] if "---" not in line and "===" not in line), end="", file=sys.stderr)
print(f"{count['pass']} passed, {count['fail']} failed, {count['skip']} skipped")
