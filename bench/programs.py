"""The programs of the peers: how each is started, and the line protocol that drives it (README.md)."""

import os
import shutil
import subprocess
from pathlib import Path


class Failed(Exception):
    """A program ended, or answered something else than numbers."""


class Program:
    """A process that answers one line to each line, pinned to a CPU where taskset is there."""

    def __init__(self, command: list[str], cpu: int | None, preload: Path | None = None) -> None:
        pin = ["taskset", "-c", str(cpu)] if cpu is not None and shutil.which("taskset") else []
        environment = dict(os.environ)
        if preload is not None:
            environment["LD_PRELOAD"] = str(preload)
            environment["BENCH_COUNTS"] = "1"
        self.command = command
        self.process = subprocess.Popen([*pin, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        env=environment)

    def ask(self, request: str) -> list[float]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"{self.command[0]} has ended before: {request}") from None
        answer = self.process.stdout.readline()
        try:
            numbers = [float(word) for word in answer.split()]
        except ValueError:
            numbers = []
        if not numbers:
            raise Failed(f"{self.command[0]}: no answer to: {request}")
        return numbers

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def commands(build: Path, root: Path) -> dict[str, list[str]]:
    """Peer: its command, for those that have been built."""
    rust = [str(build / "rust/release/bench_rust"), str(root / "tests/data")]
    go = [str(build / "go/bench_go"), str(root / "tests/data")]
    java = ["java", "-XX:+UseSerialGC", "-cp", str(build / "java"), "Peer", str(root / "tests/data")]
    found = {peer: [str(build / "c/bench_boringssl")] for peer in ("securestream", "boringssl", "aead")}
    found |= {"openssl": [str(build / "c/bench_openssl")], "gnutls": [str(build / "c/bench_gnutls")], "go": go, "java": java}
    found |= {peer: rust for peer in ("rustls", "rustls_unbuffered", "s2n")}
    there = {"java": build / "java/Peer.class"}
    return {peer: command for peer, command in found.items() if there.get(peer, Path(command[0])).exists()}


def command_for(command: list[str], peer: str, kind: str) -> list[str]:
    """The JDK's number of tickets is one for a process: what resumes has a process of its own."""
    return [*command, "1"] if (peer, kind) == ("java", "resumed") else command
