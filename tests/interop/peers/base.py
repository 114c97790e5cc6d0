"""What a peer is to the runner."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil

INTEROP = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Seen:
    """What the peer says of a connection. None: it does not tell."""

    received: bytes = b""
    alert: int | None = None  # the fatal alert that it received; -1: none
    error: str = ""
    peer_certificate: bool | None = None
    closed: bool | None = None  # it saw close_notify
    version: str | None = None


class Peer:
    name = ""
    roles = ("server", "client")
    commands = ()  # what must be there
    install = ""  # what to install where they are not
    # How data goes: "steps" (the peer goes through the steps that it is told), "fed" (through stdin and stdout), "echo"
    # (what came comes back), "http" (a PUT and its response).
    style = {"server": "steps", "client": "steps"}

    def missing(self):
        lacks = [command for command in self.commands if not shutil.which(command)]
        return f"{', '.join(lacks)} not found: install {self.install}" if lacks else ""

    def prepare(self, folder):
        """Builds what must be built below folder; returns the version as text."""
        raise NotImplementedError

    def start(self, job):
        """Starts the peer and returns its Child; a server's job.port is set."""
        raise NotImplementedError

    def seen(self, job, child):
        raise NotImplementedError

    def limited_requests(self, version):
        """[(kind of our certificate, [(flags of a server that asks for some kinds only, does ours fit)])]"""
        return []
