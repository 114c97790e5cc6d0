"""Making connections: to a server, and as one."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .config import Config
from .connection import Connection
from .constants import Role

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import ReadableBuffer


def connect(
    address: tuple[str, int],
    config: Config | None = None,
    *,
    server_name: str | bytes | None = None,
    timeout: float | None = None,
    early_data: ReadableBuffer = b"",
    **options: Any,
) -> Connection:
    """Connect to (host, port) over TCP and perform the handshake.

    The certificate must be for `server_name`, by default for the host. `config` is by default `Config()`, which trusts the
    issuers of the system. `timeout` is for each wait, then and later. `options` are those of `Stream`.

    `early_data` is sent with the first flight, if `config` has `early_data` and there is a session that allows it: from
    its `session_cache`, or as `session`. An attacker can replay it. The server may decline it; nothing is sent twice:

        connection = connect(address, config, early_data=request)
        connection.sendall(request[connection.early_data_accepted :])

    Raises what `socket.create_connection` and `Connection.handshake` raise.
    """
    config = Config() if config is None else config
    config.freeze(Role.CLIENT)
    sock = socket.create_connection(address, timeout)
    try:
        connection = Connection.client(sock, config, address[0] if server_name is None else server_name, **options)
        connection.handshake(early_data)
    except BaseException:
        sock.close()
        raise
    return connection


class Listener:
    """A TCP socket that accepts connections.

    `config` may be set at any time, from any thread, while others wait in `accept`: connections that are accepted from
    then on have the new one, those before live on with theirs.
    """

    def __init__(self, sock: socket.socket, config: Config, **options: Any) -> None:
        """Take over a listening socket. `options` are those of `Stream`."""
        self.config = config
        self._socket = sock
        self._options = options

    @property
    def config(self) -> Config:
        """What the next connection has. Set it to reload a certificate.

        Which of several a connection has can be left to the client's hello: `select_config` of `Config`.

        A config that no server can be made of raises `ConfigError`, as `Config.freeze`, and the old one stays.
        """
        return self._config

    @config.setter
    def config(self, config: Config) -> None:
        """It is checked before it is taken."""
        config.freeze(Role.SERVER)
        self._config = config

    def accept(self) -> tuple[Connection, Any]:
        """Wait for a client; return the connection and the client's address.

        The handshake is not done yet, so that a slow client holds up nobody else: the first `recv` or `send` does it, in
        the thread that serves this client.
        """
        sock, address = self._socket.accept()
        return Connection.server(sock, self.config, **self._options), address

    @property
    def address(self) -> Any:
        """Where it listens: for a port of 0 the port that was given."""
        return self._socket.getsockname()

    def fileno(self) -> int:
        return self._socket.fileno()

    def settimeout(self, seconds: float | None, /) -> None:
        """For `accept`. Connections begin without a timeout."""
        self._socket.settimeout(seconds)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def listen(address: tuple[str, int], config: Config, *, backlog: int | None = None, **options: Any) -> Listener:
    """Listen on (host, port) over TCP; an address with a colon is IPv6, port 0 a free one. `options` are those of `Stream`.

    Raises `ConfigError`: a server needs a credential; `OSError`: the address cannot be used.
    """
    config.freeze(Role.SERVER)
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    return Listener(socket.create_server(address, family=family, backlog=backlog), config, **options)
