"""What client.py and server.py share: a file to a connection, and a connection to a file."""

import os
import sys
from types import TracebackType
from typing import BinaryIO

import securestream as ss

SIZE = 256 * 1024


def send_file(connection: ss.Connection, path: str) -> int:
    sent = 0
    room = memoryview(bytearray(SIZE))
    with open(path, "rb", buffering=0) as source:
        while size := source.readinto(room):
            connection.sendall(room[:size])
            sent += size
    return sent


class Target:
    """A file that has its name only when it is whole: the end of TCP is not the end of the data, close_notify is."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._part = f"{path}.{os.getpid()}.part" if path and not _is_special(path) else None
        self._file: BinaryIO = open(self._part or path, "wb") if path else sys.stdout.buffer

    def store(self, connection: ss.Connection) -> int:
        """Write what comes, up to close_notify. Without that it raises, and the file is not kept."""
        received = 0
        room = memoryview(bytearray(SIZE))
        while size := connection.recv_into(room):
            self._file.write(room[:size])
            received += size
        return received

    def commit(self) -> None:
        self._file.flush()
        if self._path and self._part:
            self._file.close()
            os.rename(self._part, self._path)
            self._part = None

    def __enter__(self) -> "Target":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path:
            self._file.close()
        if self._part:
            os.remove(self._part)


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)
