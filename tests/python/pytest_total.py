"""pytest_total.py FILE: what pytest's report says, as "N passed, N failed, N skipped"."""

import sys
import xml.etree.ElementTree as tree

counts = {name: 0 for name in ("tests", "failures", "errors", "skipped")}
for suite in tree.parse(sys.argv[1]).getroot().iter("testsuite"):
    for name in counts:
        counts[name] += int(suite.get(name, 0))
failed = counts["failures"] + counts["errors"]
print(f"{counts['tests'] - failed - counts['skipped']} passed, {failed} failed, {counts['skipped']} skipped")
