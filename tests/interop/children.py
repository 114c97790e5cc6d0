"""Child processes that always end: each has a group of its own, a time limit, and its output in files."""

import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time


LIMIT_S = 40


def free_port():
    """A port for servers that cannot be asked for the one they took; below those that the system gives to clients."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


class Child:
    """Use it in a with statement; it is killed, with its own children, at the end of it."""

    def __init__(self, command, folder, name, stdin=None):
        self.name = name
        # Should nobody be left to kill it, it still ends.
        self.command = ["timeout", "-k", "1", str(LIMIT_S), *(str(part) for part in command)]
        self.out = pathlib.Path(folder) / f"{name}.out"
        self.err = pathlib.Path(folder) / f"{name}.err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL if stdin is None else stdin, stdout=out, stderr=err, cwd=folder,
                start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.process.stdin:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        # timeout passes the signal on, sends SIGKILL after its second, and waits: nobody else may reap what it started.
        self.process.terminate()
        if self.wait(3) is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def wait(self, seconds):
        """The exit code, or None: it is still running."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def text(self):
        return self.out.read_text(errors="replace")

    def errors(self):
        return self.err.read_text(errors="replace")

    def port(self, seconds=30):
        """The number behind "port=", or None: the child ended before it listened, or does not come to it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            for line in self.text().splitlines():
                if line.startswith("port="):
                    return int(line[5:])
            if ended:
                return None
            time.sleep(0.005)
        return None

    def feed_when(self, ready, data, then_close=False):
        """Writes data to stdin, in a thread, as soon as ready() is true. stdin stays open unless then_close."""

        def run():
            while not ready():
                if self.process.poll() is not None:
                    return
                time.sleep(0.005)
            try:
                self.process.stdin.write(data)
                self.process.stdin.flush()
                if then_close:
                    self.process.stdin.close()
            except (OSError, ValueError):
                pass

        threading.Thread(target=run, daemon=True).start()
