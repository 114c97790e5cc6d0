"""bench.py BUILD ROOT [--quick]: measures, prints the table, and writes JSON, Markdown and charts. bench/run starts it."""

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import charts
from cases import TLS_PEERS, cases
from measure import FULL, QUICK, Bench, say
from programs import commands
from targets import Row, rows


def output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def machine(root: Path) -> dict[str, str]:
    cpu = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    model = re.search(r"^model\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    flags = re.search(r"^flags\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    wanted = ("aes", "vaes", "vpclmulqdq", "avx2", "avx512f", "avx512ifma", "sha_ni", "bmi2", "adx")
    return {"cpu": cpu.group(1) if cpu else platform.machine(), "model": model.group(1) if model else "",
            "features": " ".join(f for f in wanted if flags and f in flags.group(1).split()), "cpus": str(os.cpu_count()),
            "system": f"{platform.system()} {platform.release()}", "libc": " ".join(platform.libc_ver()),
            "compiler": output("cc", "--version").splitlines()[0],
            "commit": output("git", "--no-optional-locks", "-C", str(root), "describe", "--always", "--dirty"),
            "load": f"{os.getloadavg()[0]:.1f}"}


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(r\)|\(tm\)|processor|cpu", "", text.lower())).strip("-")


def peer_lines(results: dict[str, Any]) -> list[str]:
    """Every peer's best pass of every case that more than one peer runs, BoringSSL = 1.00, and the median beside it."""
    table = {(r["kind"], r["argument"], r["peer"]): r for r in results["timed"]}
    shown = [case for case in cases() if case.peers[:2] == ("securestream", "boringssl")]
    lines = ["| | " + " | ".join(case.name for case in shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for peer in (*TLS_PEERS, "aead"):
        cells = []
        for case in shown:
            one, base = table.get((case.kind, case.argument, peer)), table[case.kind, case.argument, "boringssl"]
            cells.append(f"{one['best'] / base['best']:.2f} ({one['best'] / 1000:.3g} us)" if one else "")
        if any(cells):
            lines.append(f"| {peer} | " + " | ".join(cells) + " |")
    return lines


def heap_lines(results: dict[str, Any]) -> list[str]:
    lines = ["| | heap calls per handshake | resumed | per write of 1 B, 16 KiB, 1 MiB | idle client, server | with sessions |",
             "|---|---|---|---|---|---|"]
    counts = {(r["peer"], r["kind"], r["argument"]): r for r in results["counted"]}
    for peer in TLS_PEERS:
        shake = counts.get((peer, "handshake", "server-p256"))
        if shake is None:
            continue
        writes = ", ".join(f"{counts[peer, 'move', size]['calls']:g}" for size in ("1", "16384", "1048576"))
        resumed = counts[peer, "resumed", "server-p256"]
        held = (counts.get((peer, kind, "1000"), {"bytes": ()})["bytes"] for kind in ("idle", "sessions"))
        idle = (", ".join(f"{b:,.0f} B" for b in each) for each in held)
        lines.append(f"| {peer} | {shake['calls']:.0f} | {resumed['calls']:.0f} | {writes} | {' | '.join(idle)} |")
    return lines


def markdown(results: dict[str, Any], judged: list[Row], pictures: list[Path]) -> str:
    about = results["machine"]
    lines = [f"# Performance, {results['date']}, {about['cpu']} (model {about['model']})", "",
             f"{about['cpus']} CPUs ({about['features']}), {about['system']}, {about['libc']}, {about['compiler']}; load "
             f"{about['load']} at the start. Commit {about['commit'] or 'unknown'}. {results['command']}, "
             f"{results['seconds']:.0f} s.",
             "", "## Targets", "", "| what | target | measured | |", "|---|---|---|---|"]
    lines += [f"| {r.what} | {r.target} | {r.measured} | {'ok' if r.ok else 'MISS'} |" for r in judged]
    lines += ["", "## Peers", "", "Best pass, BoringSSL = 1.00, and the time of an op. Where a session is resumed (resumed,",
              "reloaded, early), boringssl verifies its chain again, securestream as far as it must, the others do not:",
              "bench/README.md.", "",
              *peer_lines(results), "", *heap_lines(results), ""]
    lines += [f"Not built here: {', '.join(results['left_out'])}.", ""] if results["left_out"] else []
    lines += [f"![{picture.stem}]({picture.name})" for picture in pictures]
    return "\n".join(lines) + "\n"


def main(build: Path, root: Path, quick: bool) -> int:
    began = time.monotonic()
    there = commands(build, root)
    left_out = [peer for peer in TLS_PEERS if peer not in there]
    bench = Bench(build, root, QUICK if quick else FULL)
    about = machine(root)
    say("== timed cases")
    timed = bench.timed()
    bench.end()
    say("== counted cases")
    counted = bench.counted()
    say("== scale")
    results: dict[str, Any] = {
        "date": datetime.date.today().isoformat(), "machine": about, "command": "bench/run --quick" if quick else "bench/run",
        "left_out": left_out, "timed": timed, "counted": counted, "scale": bench.scale()}
    results["seconds"] = time.monotonic() - began
    judged = rows(results)
    results["targets"] = [row._asdict() for row in judged]
    stem = root / "bench/results" / f"{results['date']}-{slug(about['cpu'])}-{about['model']}"
    stem.parent.mkdir(exist_ok=True)
    text = markdown(results, judged, charts.draw(results, stem))
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text(text)
    print(text)
    say(f"== {stem}.md, .json, -*.png; {results['seconds']:.0f} s")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), "--quick" in sys.argv[3:]))
