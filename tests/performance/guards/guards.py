#!/usr/bin/env python3
"""guards.py PROGRAM instructions|memory COMPILER: compares what sst_guard does with guards.txt (README.md, section 7).

instructions: those of the library's own functions per op, as valgrind's callgrind counts them; BoringSSL's are left out,
since they depend on the CPU. memory: calls of the allocator per handshake, and bytes per idle stream. A figure that is more
than 2 % above the table fails; one that is more than 2 % below fails too, so that the table follows. --print instead of
COMPILER prints the table's lines.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).with_name("guards.txt")
TOLERANCE = 0.02
FEW, MANY = 100, 600  # the difference is free of what is done once
OPS = (("move", "1"), ("move", "16384"), ("place", "1"), ("place", "16384"))
LEAVES = ("server-p256", "server-rsa2048")
SKIP = 77


def own_instructions(profile: str) -> int:
    """The instructions of a callgrind profile that belong to files of src/. Costs of calls are the callee's."""
    names: dict[str, str] = {}
    total, own, in_call = 0, False, False
    for line in profile.splitlines():
        file = re.match(r"(c?)f[lie]=\((\d+)\)(?: (.*))?$", line)
        if file:
            called, number, name = file.groups()
            if name is not None:
                names[number] = name
            if not called:
                own = names[number].startswith("/src/")
        elif line.startswith("calls="):
            in_call = True
        elif re.match(r"[+\-*\d]", line):
            if own and not in_call:
                total += int(line.split()[1])
            in_call = False
    return total


def instructions(program: str, kind: str, size: str) -> float:
    counts = []
    for n in (FEW, MANY):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "profile"
            subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, kind, size, str(n)],
                           check=True, capture_output=True)
            counts.append(own_instructions(out.read_text()))
    return (counts[1] - counts[0]) / (MANY - FEW)


def memory(program: str, kind: str, leaf: str) -> list[float]:
    done = subprocess.run([program, kind, leaf, "100"], check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def measured(program: str, group: str) -> dict[str, float]:
    if group == "instructions":
        return {f"{kind} {size}": instructions(program, kind, size) for kind, size in OPS}
    found = {}
    for leaf in LEAVES:
        found[f"allocations {leaf}"] = memory(program, "handshake", leaf)[0]
        found[f"idle-client {leaf}"], found[f"idle-server {leaf}"] = memory(program, "idle", leaf)
    return found


def table() -> tuple[str, dict[str, float]]:
    """The compiler that the instructions are of, and all figures."""
    lines = [line.split() for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    compiler = next(words[1] for words in lines if words[0] == "compiler")
    return compiler, {" ".join(words[:-1]): float(words[-1]) for words in lines if words[0] != "compiler"}


def main(program: str, group: str, compiler: str) -> int:
    if group == "instructions" and not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return SKIP
    if compiler == "--print":
        print("\n".join(f"{name} {value:.0f}" for name, value in measured(program, group).items()))
        return 0
    of, expected = table()
    if group == "instructions" and compiler != of:
        print(f"skipped: the table is of {of}, this build of {compiler}")
        return SKIP
    failed = False
    for name, value in measured(program, group).items():
        change = value / expected[name] - 1
        bad = abs(change) > TOLERANCE
        failed |= bad
        print(f"{name}: {value:.1f}, table {expected[name]:.0f}, {change:+.1%}{' FAILED' if bad else ''}")
    if failed:
        print(f"If the change is wanted, change {TABLE.name} in the same commit.")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
