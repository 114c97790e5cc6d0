"""How the bytes of a handshake go from side to side: 0 is the client, 1 the server."""

from __future__ import annotations

import socket

_ROOM = 65536


def _room() -> memoryview:
    return memoryview(bytearray(_ROOM))


class Link:
    """Through memory: what a side has sent is the other's input."""

    def __init__(self) -> None:
        self.rooms = _room(), _room()  # for what a side sends
        self._waiting = [self.rooms[0][:0]] * 2

    def connect(self) -> None:
        pass

    def close(self) -> None:
        pass

    def send(self, side: int, length: int) -> None:
        self._waiting[1 - side] = self.rooms[side][:length]

    def receive(self, side: int) -> memoryview:
        data = self._waiting[side]
        self._waiting[side] = data[:0]
        return data


class Pipe(Link):
    """Over a connected pair of blocking sockets."""

    def __init__(self) -> None:
        super().__init__()
        self._input = _room()
        self._ends: tuple[socket.socket, ...] = ()

    def connect(self) -> None:
        self._ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def close(self) -> None:
        for end in self._ends:
            end.close()

    def send(self, side: int, length: int) -> None:
        if length and self._ends[side].send(self.rooms[side][:length]) != length:
            raise OSError("a flight does not go out in one write")

    def receive(self, side: int) -> memoryview:
        return self._input[: self._ends[side].recv_into(self._input)]


class Tcp(Pipe):
    def __init__(self, family: socket.AddressFamily, loopback: str) -> None:
        super().__init__()
        self._family = family
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        self._listener.bind((loopback, 0))
        self._listener.listen(1)
        self._address = self._listener.getsockname()

    def connect(self) -> None:
        client = socket.socket(self._family, socket.SOCK_STREAM)
        client.connect(self._address)
        self._ends = client, self._listener.accept()[0]
        for end in self._ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def new_link(over: str) -> Link:
    match over:
        case "memory":
            return Link()
        case "pipe":
            return Pipe()
        case "ipv4":
            return Tcp(socket.AF_INET, "127.0.0.1")
        case _:
            return Tcp(socket.AF_INET6, "::1")
