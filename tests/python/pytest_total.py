"""pytest_total.py FILE: what pytest's report says, as "N passed, N failed, N skipped".

Tests that failed are added to the file that SST_FAILURES names (script/lib.sh).
"""

import os
import sys
import xml.etree.ElementTree as tree

counts = {name: 0 for name in ("tests", "failures", "errors", "skipped")}
for suite in tree.parse(sys.argv[1]).getroot().iter("testsuite"):
    for name in counts:
        counts[name] += int(suite.get(name, 0))
with open(os.environ.get("SST_FAILURES", os.devnull), "a", encoding="utf-8") as failures:
    for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
        for fault in (*case.iter("failure"), *case.iter("error")):
            print(f"failed: {case.get('classname')}.{case.get('name')}: {fault.get('message')}", file=failures)
failed = counts["failures"] + counts["errors"]
print(f"{counts['tests'] - failed - counts['skipped']} passed, {failed} failed, {counts['skipped']} skipped")
