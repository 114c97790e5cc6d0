"""compare.py BUILD ROUNDS: one program per compiler, in interleaved passes; prints a Markdown table. run starts it."""

import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from programs import Program  # noqa: E402

CPU = 1
PASS_NS = 4e6
COMPILERS = ("cc", "clang")
PRIMITIVES = ("x25519-keygen", "x25519-derive", "p256-keygen", "p256-sign", "p256-verify", "rsa2048-sign", "rsa2048-verify",
              "gcm-1", "gcm-16384")
LIBRARY = ("handshake server-p256", "handshake server-rsa2048", "move 1", "move 16384")


class Turn:
    """One case of one compiler."""

    def __init__(self, program: Program, request: str) -> None:
        self.program, self.request = program, request
        self.taken: list[float] = []
        self.once(1)
        self.ops = max(1, int(PASS_NS / self.once(4)))

    def once(self, n: int) -> float:
        return self.program.ask(f"{self.request} {n}")[0] / n


def version(command: str) -> str:
    return subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def cpu() -> str:
    text = Path("/proc/cpuinfo").read_text()
    return ", ".join(m.group(1) for name in ("model name", "model") if (m := re.search(rf"^{name}\s*:\s*(.*)$", text, re.M)))


def main(build: Path, rounds: int) -> None:
    peers = {c: Program([str(build / c / "peers/bench_boringssl")], CPU) for c in COMPILERS}
    primitives = {c: Program([str(build / c / "primitives/primitives")], CPU) for c in COMPILERS}
    print(f"{cpu()}; cc: {version('cc')}; clang: {version('clang-14')}; {rounds} interleaved rounds, CPU time, best pass "
          "(median).\n\n| | cc | clang | clang / cc | of medians |\n|---|---|---|---|---|")
    cases = [(name, primitives, name) for name in PRIMITIVES]
    cases += [(name, peers, f"pass securestream {name}") for name in LIBRARY]
    for name, programs, request in cases:
        turns = [Turn(programs[c], request) for c in COMPILERS]
        for index in range(rounds):
            for turn in turns if index % 2 == 0 else reversed(turns):
                turn.taken.append(turn.once(turn.ops))
        best = [min(turn.taken) for turn in turns]
        median = [statistics.median(turn.taken) for turn in turns]
        cells = [f"{b / 1000:.3g} us ({m / 1000:.3g})" for b, m in zip(best, median)]
        print(f"| {name} | {cells[0]} | {cells[1]} | {best[1] / best[0]:.3f} | {median[1] / median[0]:.3f} |", flush=True)
    for program in (*peers.values(), *primitives.values()):
        program.end()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]))
