#!/usr/bin/env python3
"""run.py --program PATH --build FOLDER [--short] [--only WORD] [--write-docs]: script/interop without the build."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import string
import sys
import tempfile
import time

import cases
import early
import execute
import report
from peers.commands import Curl, GnuTls, OpenSsl
from peers.programs import Go, Jdk, Node, Python
from pki import Pki

PEERS = [OpenSsl, GnuTls, Python, Go, Jdk, Node, Curl]
BYTES = 300_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="", help="peers whose name has this in it")
    parser.add_argument("--test", default="", help="tests whose name has this in it")
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def make_data():
    """Ours and theirs: lines of text, because the echo of gnutls-serv goes by lines; other peers take them as bytes."""
    random.seed(time.time_ns())
    letters = string.ascii_letters + string.digits
    return [b"".join(("".join(random.choices(letters, k=63)) + "\n").encode() for _ in range(size // 64))
            for size in (BYTES, BYTES + 64 * 321)]


def prepare(folder, only):
    """The peers that are there, and those that are not, with the reason."""
    ready, versions, lacking = [], {}, {}
    for kind in PEERS:
        peer = kind()
        if only.lower() not in peer.name.lower():
            continue
        lacks = peer.missing()
        try:
            version = "" if lacks else peer.prepare(folder)
        except (OSError, RuntimeError) as error:
            lacks = f"cannot be prepared: install {peer.install or 'it'} ({error})"
        if lacks:
            lacking[peer.name] = lacks
        else:
            ready.append(peer)
            versions[peer.name] = version
    return ready, versions, lacking


def run_all(bench, todo, jobs):
    results = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(bench.run, case, number) for number, case in enumerate(todo)]
        try:
            for done, future in enumerate(running, 1):
                result = future.result()
                results.append(result)
                if result.verdict == "FAIL":
                    print(f"FAIL {result.case.name()}: {result.detail}", file=sys.stderr, flush=True)
                elif done % 50 == 0:
                    print(f"{done} of {len(running)}", file=sys.stderr, flush=True)
        except BaseException:
            for future in running:
                future.cancel()
            raise
    return results


def keep_failed(folder, results, target):
    """What the processes of failed cases said, for a look."""
    shutil.rmtree(target, ignore_errors=True)
    for number, result in enumerate(results):
        if result.verdict == "FAIL" and (folder / f"case-{number}").exists():
            shutil.copytree(folder / f"case-{number}", target / f"{number}")


def main():
    flags = arguments()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that the with statements end
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="interop-") as name:
        folder = pathlib.Path(name)
        peers, versions, lacking = prepare(folder, flags.only)
        if not peers and not lacking:
            sys.exit(f"no peer has '{flags.only}' in its name: {', '.join(peer.name for peer in PEERS)}")
        pki = Pki(folder / "pki") if peers else None
        todo = [case for case in cases.make(pki, peers, flags.short) + early.make(peers, flags.short)
                if flags.test in case.test]
        bench = execute.Bench(flags.program, pki, make_data(), folder)
        results = run_all(bench, todo, flags.jobs)
        keep_failed(folder, results, flags.build / "interop" / "failed")
    seconds = round(time.monotonic() - begin)
    page = report.page(results, versions, lacking, seconds)
    out = flags.build / "interop"
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.md").write_text(page)
    (out / "results.json").write_text(json.dumps(report.rows(results), indent=1) + "\n")
    print(page)
    failed = sum(result.verdict == "FAIL" for result in results) + len(lacking)
    whole = not (failed or flags.only or flags.short or flags.test)
    if flags.write_docs and not whole:
        print("docs/interop.md is left as it is: only a whole run without a failure writes it", file=sys.stderr)
    elif flags.write_docs:
        docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
        (docs / "interop.md").write_text(report.document(results, versions, BYTES // 64 * 64))
    print(f"{len(results) - failed + len(lacking)} passed, {failed} failed, 0 skipped")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
