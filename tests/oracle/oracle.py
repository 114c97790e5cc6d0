#!/usr/bin/env python3
"""oracle.py DATA GO-JUDGE: has every row of DATA/verdicts.txt judged by `openssl verify` and by crypto/x509.

A row fails where an oracle and the table differ, be it in good or refused or in the reason, and differences.txt does
not say so; and where it does and they agree. The last line is "N passed, N failed, N skipped".
"""

import base64
import collections
import datetime
import ipaddress
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CLOCK = "2026-01-01T00:00:00Z"
GOOD, REFUSED, OTHER_REASON, AGREED = "good", "refused", "other-reason", ""

Row = collections.namedtuple("Row", "name trust sent role host time options reasons")
# codes: of which our reasons must have one; empty: the oracle's reason has no like
Verdict = collections.namedtuple("Verdict", "good codes text")

OPENSSL_CODES = {
    "CERT_ISSUER_NOT_FOUND": [2, 19, 20, 21],
    "CERT_SELF_SIGNED": [18],
    "CERT_BAD_SIGNATURE": [4, 6, 7, 76],
    "CERT_REVOKED": [23],
    "CERT_PURPOSE": [26],
    "CERT_WEAK_KEY": [66, 67],
    "CERT_WEAK_DIGEST": [68],
    "CERT_MALFORMED": [13, 14, 41],
    "CERT_CHAIN_TOO_LONG": [22, 25],
    "CERT_NOT_CA": [24, 32, 79],
    "CERT_NAME_CONSTRAINT": [47, 48, 49, 51, 52, 53],
    "CERT_CRL": [3, 5, 8, 11, 12, 15, 16, 33, 35, 36, 44],
    "CERT_EXPIRED": [10],
    "CERT_NOT_YET_VALID": [9],
    "CERT_NAME_MISMATCH": [62, 64],
    "CERT_OTHER": [34, 43],
}
CODE_OF_OPENSSL = {number: code for code, numbers in OPENSSL_CODES.items() for number in numbers}

# The first that matches. Go has one error for whatever led it nowhere, with a hint in brackets.
GO_REASONS = [
    (r"is revoked", "CERT_REVOKED"),
    (r"no usable revocation list", "CERT_CRL"),
    (r"not authorized to sign for this name|constraint violation", "CERT_NAME_CONSTRAINT"),
    (r"unknown authority .possibly because of .*insecure algorithm", "CERT_WEAK_DIGEST"),
    (r"unknown authority .possibly because of .*unsupported elliptic curve", "CERT_WEAK_KEY"),
    (r"unknown authority .possibly because of .*verification (failure|error)",
     "CERT_BAD_SIGNATURE CERT_ISSUER_NOT_FOUND CERT_SELF_SIGNED"),
    (r"unknown authority .possibly because of .*parent certificate cannot sign", "CERT_NOT_CA"),
    (r"unknown authority", "CERT_ISSUER_NOT_FOUND CERT_SELF_SIGNED"),
    (r"signature algorithm identifiers don't match", "CERT_BAD_SIGNATURE"),
    (r"is after", "CERT_EXPIRED"),
    (r"is before", "CERT_NOT_YET_VALID"),
    (r"not authorized to sign", "CERT_NOT_CA"),
    (r"too many intermediates", "CERT_CHAIN_TOO_LONG"),
    (r"incompatible key usage", "CERT_PURPOSE"),
    (r"unhandled critical extension|invalid policies", "CERT_OTHER"),
    (r"malformed|trailing data|duplicate extension", "CERT_MALFORMED"),
    (r"unsupported elliptic curve", "CERT_WEAK_KEY"),
    (r"is valid for|is not valid for any names|legacy Common Name|cannot validate", "CERT_NAME_MISMATCH"),
]


def read_rows(data):
    lines = (data / "verdicts.txt").read_text().splitlines()
    return [Row(*(field.strip() for field in line.split("|"))) for line in lines if line and line[0] != "#"]


def read_differences():
    """(oracle, row): (what, why)"""
    found = {}
    for line in (HERE / "differences.txt").read_text().splitlines():
        if not line or line[0] == "#":
            continue
        oracle, what, names, why = (field.strip() for field in line.split("|"))
        for name in names.split():
            assert (oracle, name) not in found, f"{oracle} {name} stands twice in differences.txt"
            found[oracle, name] = what, why
    return found


# ---- openssl verify ----


def pem(label, der):
    return f"-----BEGIN {label}-----\n{base64.encodebytes(der).decode()}-----END {label}-----\n"


def run_openssl(*arguments, **options):
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, **options)


def blocks(data, name, label):
    """The PEM blocks of a file. Anchors and lists in DER stand one behind the other; what is sent in DER is one."""
    if not name.endswith(".der"):
        text = (data / f"{name}.pem").read_text()
        return re.findall(rf"-----BEGIN {label}-----.*?-----END {label}-----\n", text, re.S)
    der, found = (data / name).read_bytes(), []
    while der:
        more = der[1] & 0x7F if der[1] & 0x80 and der[0] == 0x30 else 0
        end = 2 + more + int.from_bytes(der[2 : 2 + more], "big") if more and "/" not in name else len(der)
        found.append(pem(label, der[:end]))
        der = der[end:]
    return found


def parses(certificate):
    return run_openssl("x509", "-noout", input=certificate).returncode == 0


class Openssl:
    name = "openssl"

    def __init__(self, data, work):
        self.data, self.work = data, work

    def write(self, name, texts):
        path = self.work / name
        path.write_text("".join(texts))
        return str(path)

    def options(self, row):
        time = datetime.datetime.strptime(CLOCK if row.time == "-" else row.time, "%Y-%m-%dT%H:%M:%S%z")
        found = ["-attime", str(int(time.timestamp())), "-purpose", f"ssl{row.role}", "-verify_depth", "8"]
        level = "2"  # RSA of 2048 bits, SHA-2
        for option in row.options.split():
            key, _, value = option.partition("=")
            if option == "partial-chain":
                found.append("-partial_chain")
            elif option == "sha1":
                level = "0"
            elif key == "minimum-key":
                level = {"1024": "1", "3072": "3"}[value]
            elif key == "crl":
                lists = [block for name in value.split(",") for block in blocks(self.data, name, "X509 CRL")]
                found += ["-crl_check_all", "-CRLfile", self.write("crls.pem", lists)]
        if row.host != "-":
            found += ["-verify_ip" if is_address(row.host) else "-verify_hostname", row.host]
        return found + ["-auth_level", level]

    def judge(self, row):
        trust = [block for name in row.trust.split() for block in blocks(self.data, name, "CERTIFICATE")]
        sent = [(name, block) for name in row.sent.split() for block in blocks(self.data, name, "CERTIFICATE")]
        rest = [block for name, block in sent[1:] if not name.endswith(".der") or parses(block)]
        command = ["verify", "-no-CAfile", "-no-CApath", "-no-CAstore", "-CAfile", self.write("trust.pem", trust)]
        if rest:
            command += ["-untrusted", self.write("rest.pem", rest)]
        run = run_openssl(*command, *self.options(row), self.write("leaf.pem", [sent[0][1]]))
        if run.returncode == 0:
            return Verdict(True, [], "OK")
        numbers = [int(number) for number in re.findall(r"^error (\d+) at \d+ depth", run.stderr, re.M)]
        if not numbers and not parses(sent[0][1]):
            return Verdict(False, ["CERT_MALFORMED"], "does not parse")
        codes = [CODE_OF_OPENSSL[number] for number in numbers[:1] if number in CODE_OF_OPENSSL]
        return Verdict(False, codes, " ".join(re.findall(r"^error .*", run.stderr, re.M)) or run.stderr.strip())


def is_address(name):
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


# ---- crypto/x509 ----


class Go:
    name = "go"

    def __init__(self, data, program):
        lines = subprocess.run([program, data], capture_output=True, text=True, check=True).stdout.splitlines()
        self.verdicts = dict(line.split("\t", 1) for line in lines)

    def judge(self, row):
        text = self.verdicts[row.name]
        if text == "OK":
            return Verdict(True, [], text)
        codes = next((codes for pattern, codes in GO_REASONS if re.search(pattern, text)), "")
        return Verdict(False, codes.split(), text)


# ---- both ----


def difference(row, verdict):
    if verdict.good != (row.reasons == "OK"):
        return GOOD if verdict.good else REFUSED
    if verdict.codes and not set(verdict.codes) & set(row.reasons.split()):
        return OTHER_REASON
    return AGREED


def judge(oracle, row, listed):
    """What is wrong; "": nothing."""
    verdict = oracle.judge(row)
    found, (wanted, _) = difference(row, verdict), listed.get((oracle.name, row.name), (AGREED, ""))
    if found == wanted:
        return ""
    listed_as = f"listed as {wanted}" if wanted else "not listed"
    return f"{found or 'no difference'}, {listed_as}: {row.reasons}; the oracle: {verdict.text}"


# Rows turned into wrong ones, and a difference that is none: whatever passes them sees nothing.
PLANTED = {"key-p256": "CERT_EXPIRED", "time-expired": "OK", "time-not-yet": "CERT_NAME_MISMATCH",
           "untrusted": "CERT_EXPIRED"}


def check_planted(oracle, rows):
    """How many of the planted faults are seen, and which are not."""
    of_name = {row.name: row for row in rows}
    missed = [name for name, reasons in PLANTED.items()
              if not judge(oracle, of_name[name]._replace(reasons=reasons), {})]
    if not judge(oracle, of_name["key-p256"], {(oracle.name, "key-p256"): (REFUSED, "there is none")}):
        missed.append("a difference that is none")
    return len(PLANTED) + 1 - len(missed), missed


def main(data, program):
    rows, listed = read_rows(data), read_differences()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as work:
        for oracle in [Openssl(data, pathlib.Path(work)), Go(data, program)]:
            for row in rows:
                wrong = judge(oracle, row, listed)
                if wrong:
                    print(f"FAILED  {oracle.name} {row.name}: {wrong}")
                passed, failed = passed + (not wrong), failed + bool(wrong)
            seen, missed = check_planted(oracle, rows)
            for name in missed:
                print(f"FAILED  {oracle.name}: does not see a planted fault: {name}")
            passed, failed = passed + seen, failed + len(missed)
    for oracle, name in sorted(listed.keys() - {(oracle, row.name) for oracle in ["openssl", "go"] for row in rows}):
        print(f"FAILED  differences.txt: no row or oracle {oracle} {name}")
        failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
