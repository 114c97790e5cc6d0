"""Runs one case between sst_interop and a peer, and judges it."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
import subprocess
import time

import exceptions
from cases import NAME, QUESTIONS, SCHEMES
from children import Child
from early import EarlyCase
from pki import Pki

LIMIT_S = 32
END_OF_BODY = "\nend of the body\n"
# What a client and a server do, in each order of the data.
STEPS = {
    "client first": ("send,close,drain", "drain,send,close"),
    "server first": ("drain,send,close", "send,close,drain"),
    "exact": ("send,drain,close", "take,send,close,drain"),
    "refused": ("drain,close", "send,close,drain"),
}


@dataclasses.dataclass
class Job:
    """One connection, for the peer: what it is told and what it is given."""

    folder: pathlib.Path
    pki: Pki
    role: str
    theirs: dict
    our_data: bytes
    their_data: bytes
    port: int | None = None


@dataclasses.dataclass
class Result:
    case: object
    verdict: str  # "ok", "refused", "cannot", "FAIL"
    cell: str
    detail: str = ""
    note: str = ""
    seconds: float = 0


class Bench:
    """Where cases run: the program, the certificates, the data."""

    def __init__(self, program, pki, data, folder):
        self.program, self.pki, self.data, self.folder = program, pki, data, folder

    def run(self, case, number):
        folder = self.folder / f"case-{number}"
        folder.mkdir()
        begin = time.monotonic()
        try:
            if isinstance(case, EarlyCase):
                result = judge_early(case, *case.play(self, folder))
            else:
                job, ours, seen = self._connect(case, folder)
                result = judge(case, job, ours, seen)
        except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
            result = Result(case, "FAIL", "FAIL", f"{type(error).__name__}: {error}")
        result.seconds = round(time.monotonic() - begin, 2)
        if result.verdict != "FAIL":
            shutil.rmtree(folder)
        return result

    def _job(self, case, folder):
        ours, theirs = self.data
        if case.order == "refused":
            ours, theirs = ours[:64], b""
        if case.peer.style[case.role] == "echo":
            theirs = ours
        if case.peer.style[case.role] == "http":
            ours = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + ours
            theirs += END_OF_BODY.encode()
        return Job(folder, self.pki, case.role, dict(case.theirs), ours, theirs)

    def _connect(self, case, folder):
        job = self._job(case, folder)
        (folder / "our.data").write_bytes(job.our_data)
        (folder / "their.data").write_bytes(job.their_data)
        client, server = STEPS[case.order]
        style = case.peer.style[case.role]
        if style in ("fed", "echo") and case.order == "exact":
            client = "send,take,close,drain"
        job.theirs.update(steps=server if case.role == "server" else client, send="their.data", receive="peer.received",
                          expect=str(len(job.our_data)))
        flags = {**case.ours, "steps": client if case.role == "server" else server, "send": "our.data",
                 "receive": "our.received", "now": str(int(time.time())), "limit": str(LIMIT_S - 2)}
        if style == "http":
            flags["until"] = END_OF_BODY
        elif job.their_data:
            flags["expect"] = str(len(job.their_data))
        with_us = [self.program, "client" if case.role == "server" else "server",
                   *(part for flag, value in flags.items() for part in (f"--{flag}", value))]
        return job, *(self._to_server if case.role == "server" else self._to_client)(case, job, with_us)

    def _to_server(self, case, job, command):
        with case.peer.start(job) as peer:
            if job.port is None:
                return None, case.peer.seen(job, peer)
            with Child([*command, "--port", job.port], job.folder, "ours") as ours:
                ours.wait(LIMIT_S)
                if case.peer.style["server"] != "echo":
                    peer.wait(3)
                return result_of(ours), case.peer.seen(job, peer)

    def _to_client(self, case, job, command):
        with Child(command, job.folder, "ours") as ours:
            job.port = ours.port()
            if job.port is None:
                return result_of(ours), None
            with case.peer.start(job) as peer:
                ended = peer.wait(LIMIT_S)
                if ended is None:
                    ours.wait(0.1)
                elif ours.wait(3) is None and not ours.text().count("{"):
                    # The peer has ended without a connection: it could not do its part.
                    return None, case.peer.seen(job, peer)
                return result_of(ours), case.peer.seen(job, peer)


def result_of(ours):
    lines = [line for line in ours.text().splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"sst_interop gave no result: {ours.errors().strip()[-200:]}")
    result = json.loads(lines[-1])
    if ours.process.poll() != 0:
        raise RuntimeError(f"sst_interop ended with {ours.process.poll()}")
    return result


def faults_of_data(case, job, ours, seen):
    received = (job.folder / "our.received").read_bytes()
    if case.peer.style[case.role] == "http":
        received = received.partition(b"\r\n\r\n")[2]
    sent = job.our_data.partition(b"\r\n\r\n")[2] if case.peer.style[case.role] == "http" else job.our_data
    wanted = 0x0304 if case.version == "1.3" else 0x0303
    checks = {
        f"our status is {ours['name']}": ours["code"] == 0 and ours["name"] in ("OK", "CLOSED"),
        f"our version is {ours['version']:#x}": ours["version"] == wanted,
        f"we received {len(received)} bytes, not those that were sent": received == job.their_data,
        f"the peer received {len(seen.received)} bytes, not those that were sent": seen.received == sent,
        "we did not see close_notify": ours["peer_closed"] == 1,
        "the peer did not see close_notify": seen.closed is not False,
        f"the peer says: {seen.error}": not seen.error or seen.closed is None,
    }
    right = SCHEMES[case.version].get(case.kind)
    shown = case.test == "suspended" or (case.role == "server" and case.test == "data")
    if shown or (case.role == "client" and case.test == "mutual"):
        checks[f"the peer signed with {ours['peer_scheme']:#06x}"] = ours["peer_scheme"] in right
        checks["the peer sent no certificate"] = ours["peer_certificates"] > 0
    role = "client" if case.role == "server" else "server"
    questions = QUESTIONS[role] if case.test == "suspended" else []
    checks[f"we were asked {', '.join(ours['questions']) or 'nothing'}"] = ours["questions"] == questions
    if case.test == "suspended":
        checks[f"we signed with {ours['local_scheme']:#06x}"] = ours["local_scheme"] in right
        name = NAME if role == "server" else ""
        checks[f"the ClientHello names '{ours['server_name']}'"] = ours["server_name"] == name
    if case.sends_certificate is not None and case.role == "server" and seen.peer_certificate is not None:
        checks[f"the peer got a certificate: {seen.peer_certificate}"] = seen.peer_certificate == case.sends_certificate
    return [text for text, right in checks.items() if not right]


def faults_of_refusal(case, ours, seen, outcome):
    code = outcome.get("code", case.refusal.code)
    received = outcome.get("received", case.refusal.received)
    sent = outcome.get("sent", case.refusal.sent)
    peer_alert = outcome.get("peer alert", sent)
    codes = code if isinstance(code, tuple) else (code,)
    checks = {f"our status is {ours['name']}, not {code}": ours["name"] in codes}
    if sent >= 0:
        checks[f"we sent alert {ours['alert_sent']}, not {sent}"] = ours["alert_sent"] == sent
        if peer_alert is not None:
            checks[f"the peer reports alert {seen.alert}, not {peer_alert}: {seen.error}"] = seen.alert == peer_alert
    elif received:
        alert = ours["alert_received"]
        checks[f"we received alert {alert}, not one of {sorted(received)}"] = alert in received
        checks[f"our code is {ours['code']}"] = ours["code"] == -1000 - ours["alert_received"]
    else:
        checks[f"we received alert {ours['alert_received']}"] = ours["alert_received"] == -1
    if sent < 0:
        checks["the peer tells of no error"] = bool(seen.error) or code == "OK"
    return [text for text, right in checks.items() if not right]


def judge_early(case, faults, told):
    reason = exceptions.cannot(case)
    if not faults:
        return Result(case, "ok", "ok", note=reason and f"this version can, though the list says: {reason}")
    if reason:
        return Result(case, "cannot", "cannot", told, reason)
    return Result(case, "FAIL", "FAIL", f"{'; '.join(faults)}; {told}")


def judge(case, job, ours, seen):
    told = f"ours: {json.dumps(ours)}; peer: {seen and dataclasses.replace(seen, received=b'')}"
    reason = exceptions.cannot(case)
    if ours is None or seen is None:
        if reason:
            return Result(case, "cannot", "cannot", told, reason)
        return Result(case, "FAIL", "FAIL", f"the peer did not come to it: {told}")
    if case.refusal is None:
        faults = faults_of_data(case, job, ours, seen)
        if not faults:
            if reason:
                return Result(case, "ok", "ok", note=f"this version can, though the list says: {reason}")
            if case.order != "exact":
                return Result(case, "ok", "ok")
            other = exceptions.no_half_close(case.peer, case.role, case.version, "client first")
            return Result(case, "ok", "ok", note=f"no half-close: {other}")
        if reason and not ours["open"]:
            return Result(case, "cannot", "cannot", told, reason)
    else:
        outcome, why = exceptions.other_outcome(case) or ({}, "")
        faults = faults_of_refusal(case, ours, seen, outcome)
        alert = max(ours["alert_sent"], ours["alert_received"])
        if not faults:
            return Result(case, "refused", str(alert) if alert >= 0 else ours["name"], note=why)
        if reason:
            return Result(case, "cannot", "cannot", told, reason)
    return Result(case, "FAIL", "FAIL", f"{'; '.join(faults)}; {told}")
