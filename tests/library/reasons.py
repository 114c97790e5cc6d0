#!/usr/bin/env python3
"""reasons.py PREFIX: every reason of BoringSSL's headers is mapped to a code, or stands in reasons.txt with why not."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = (("ssl.h", "SSL_R_", "failure.c"), ("x509.h", "X509_V_ERR_", "verify_faults.c"))
FIRST_ALERT = 1000  # reasons from here on are alerts received, which have codes by their number


def in_header(prefix, header, start):
    text = (pathlib.Path(prefix) / "include/openssl" / header).read_text()
    return {name for name, number in re.findall(rf"^#define ({start}\w+) (\d+)", text, re.M)
            if start != "SSL_R_" or int(number) < FIRST_ALERT}


def mapped(source, start):
    text = (ROOT / "src/tls" / source).read_text()
    names = re.findall(rf"{{({start}\w+), SST_ERR_\w+}}", text)
    named = set(names) | set(re.findall(rf"== ({start}\w+)\b", text))
    return named, [f"{name} is mapped twice" for name in set(names) if names.count(name) > 1]


def left_out():
    reasons, faults = {}, []
    for number, line in enumerate((ROOT / "tests/library/reasons.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, _, why = line.partition(" | ")
        if len(why) < 8 or not re.fullmatch(r"[A-Z]\w+", name):
            faults.append(f"reasons.txt:{number}: not a line like NAME | why")
        if name in reasons:
            faults.append(f"reasons.txt:{number}: {name} stands there twice")
        reasons[name] = why
    return reasons, faults


def check(prefix):
    absent, faults = left_out()
    known = set()
    for header, start, source in KINDS:
        reasons = in_header(prefix, header, start)
        if len(reasons) < 50:
            faults.append(f"{header}: only {len(reasons)} names with {start}")
        with_code, doubles = mapped(source, start)
        faults += doubles
        neither = reasons - with_code - set(absent)
        faults += [f"{name}: neither in {source} nor in reasons.txt" for name in sorted(neither)]
        faults += [f"{name}: both in {source} and in reasons.txt" for name in sorted(with_code & set(absent))]
        known |= reasons
    return faults + [f"reasons.txt: BoringSSL has no {name}" for name in sorted(set(absent) - known)]


if __name__ == "__main__":
    found = check(sys.argv[1])
    print("\n".join(found))
    sys.exit(1 if found else 0)
