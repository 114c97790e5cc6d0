"""Takes the measurements: all peers of a case in turn inside each pass, and the figures that are counted, not timed."""

import statistics
import sys
from pathlib import Path
from typing import Any

from cases import COUNTED, FEW_STREAMS, IDLE_PAIRS, MANY_STREAMS, SESSION_HOLDERS, Case, cases, groups
from programs import Program, command_for, commands

CPU = 1
QUICK = {"tight": 60, "loose": 40, "ns": 3e6}
FULL = {"tight": 300, "loose": 150, "ns": 5e6}
MOST_OPS = 1_000_000
# Two threads need both CPUs at once: many passes, so that some of them are not disturbed.
UNPINNED_TIMES = 8


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Bench:
    """The running programs, and what they are asked."""

    def __init__(self, build: Path, root: Path, effort: dict[str, float]) -> None:
        self.commands, self.effort = commands(build, root), effort
        self.heap = build / "c/libbench_heap.so"
        self.running: dict[tuple[str, bool], Program] = {}

    def program(self, case: Case, peer: str) -> Program:
        command = command_for(self.commands[peer], peer, case.kind)
        key = (" ".join(command), case.unpinned)
        if key not in self.running:
            self.running[key] = Program(command, None if case.unpinned else CPU)
        return self.running[key]

    def once(self, case: Case, peer: str, n: int) -> float:
        program = self.program(case, peer)
        return program.ask(f"pass {peer} {case.kind} {case.argument} {n}")[0] / n

    def ops(self, case: Case, peer: str) -> int:
        """How many ops make a pass of the length that is wanted. Warms the peer up as well."""
        wanted = self.effort["ns"]
        n = 1
        self.once(case, peer, 4)
        while (took := self.once(case, peer, n) * n) < wanted / 4 and n < MOST_OPS:
            n *= 2
        return max(1, min(MOST_OPS, int(n * wanted / max(took, 1))))

    def interleaved(self, group: list[Case]) -> list[dict[str, Any]]:
        turns = [(case, peer) for case in group for peer in case.peers if peer in self.commands]
        ops = [self.ops(case, peer) for case, peer in turns]
        taken: list[list[float]] = [[] for _ in turns]
        passes = int(self.effort["tight" if group[0].tight else "loose"]) * (UNPINNED_TIMES if group[0].unpinned else 1)
        for index in range(passes):
            for turn in range(len(turns)):
                at = (turn + index) % len(turns)  # nobody always comes after the same one
                taken[at].append(self.once(*turns[at], ops[at]))
        return [result(*turn, count, times) for turn, count, times in zip(turns, ops, taken)]

    def timed(self) -> list[dict[str, Any]]:
        found = []
        for group in groups(cases()):
            say("   " + ", ".join(case.name for case in group))
            found += self.interleaved(group)
        return found

    def counted(self) -> list[dict[str, Any]]:
        """Heap calls per op, and bytes per idle stream, in processes whose allocator is interposed."""
        found = []
        for peer, command in self.commands.items():
            if peer == "java":
                continue  # has no figures for one op
            say(f"   heap: {peer}")
            program = Program(command, CPU, self.heap)
            for kind, argument, n in COUNTED:
                if peer == "aead" and kind in ("handshake", "resumed"):
                    continue
                if kind == "place" and peer not in ("securestream", "aead"):
                    continue
                calls = program.ask(f"count {peer} {kind} {argument} {n}")[0]
                found.append({"peer": peer, "kind": kind, "argument": argument, "calls": calls})
            if peer != "aead":
                answer = program.ask(f"idle {peer} pair server-p256 {IDLE_PAIRS}")
                found.append({"peer": peer, "kind": "idle", "argument": str(IDLE_PAIRS), "bytes": answer})
            if peer in SESSION_HOLDERS:
                answer = program.ask(f"idle {peer} sessions server-p256 {IDLE_PAIRS}")
                found.append({"peer": peer, "kind": "sessions", "argument": str(IDLE_PAIRS), "bytes": answer})
            program.end()
        return found

    def scale(self) -> list[dict[str, Any]]:
        """The cost of a handshake and of an echo in a process that holds few open streams, and in one that holds many."""
        counts = (FEW_STREAMS, MANY_STREAMS)
        programs = {}
        for count in counts:
            say(f"   opening {count} streams")
            programs[count] = Program(self.commands["securestream"], CPU)
            programs[count].ask(f"grow securestream pair open {count // 2}")
        found = []
        for kind, argument in (("handshake", "server-p256"), ("move", "16384")):
            taken: dict[int, list[float]] = {count: [] for count in counts}
            n = 10 if kind == "handshake" else 1000
            for _ in range(int(self.effort["tight"])):
                for count in counts:
                    taken[count].append(programs[count].ask(f"pass securestream {kind} {argument} {n}")[0] / n)
            found += [{"streams": count, "kind": kind, "best": min(times), "median": statistics.median(times)}
                      for count, times in taken.items()]
        for program in programs.values():
            program.end()
        return found

    def end(self) -> None:
        for program in self.running.values():
            program.end()


def result(case: Case, peer: str, ops: int, times: list[float]) -> dict[str, Any]:
    ordered = sorted(times)
    best, median = ordered[0], statistics.median(ordered)
    return {"kind": case.kind, "argument": case.argument, "peer": peer, "ops": ops, "passes": len(times), "best": best,
            "median": median, "tenth": ordered[len(ordered) // 10], "spread": median / best - 1}
