"""Serves files over TLS, a thread for each client. It works with the client of examples/c, too."""

import argparse
import os
import sys
import threading
from typing import Any

import securestream as ss
from transfer import Target, send_file


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--echo", action="store_true", help="give back what comes")
    what.add_argument("--receive", metavar="FILE", help="store what comes; FILE has its name only when it is whole")
    what.add_argument("--send", metavar="FILE", help="give FILE to each client")
    parser.add_argument("--cert", required=True, help="certificate chain, leaf first (PEM)")
    parser.add_argument("--key", required=True, help="its private key (PEM)")
    parser.add_argument("--ca", help="require a client certificate from these issuers (PEM)")
    parser.add_argument("--bind", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--timeout-ms", type=int, default=30000, help="for a silent client")
    parser.add_argument("--once", action="store_true", help="serve one client, then end")
    return parser.parse_args()


def serve(connection: ss.Connection, o: argparse.Namespace) -> None:
    """One client: the file, or the echo, then close_notify; and what comes, up to the client's close_notify."""
    if o.receive:
        with Target(o.receive) as target:
            target.store(connection)
            target.commit()
    elif o.send:
        send_file(connection, o.send)
        connection.close_write()
        while connection.recv(65536):
            pass
    else:
        while data := connection.recv(65536):
            connection.sendall(data)


def run(connection: ss.Connection, address: Any, o: argparse.Namespace) -> bool:
    who = f"client {address[0]}:{address[1]}"
    try:
        with connection:
            connection.settimeout(o.timeout_ms / 1000)
            connection.handshake()
            print(f"{who}: {connection.stream.description}", file=sys.stderr)
            serve(connection, o)
        print(f"{who}: closed", file=sys.stderr)
        return True
    except ss.TruncatedError as error:
        # A client to which all was sent may go without a word; one that stores with us may not.
        good = bool(o.send) and ss.State.WE_CLOSED in connection.stream.state
        print(f"{who}: {error}", file=sys.stderr)
        return good
    except (ss.SecureStreamError, OSError) as error:
        print(f"{who}: {error}", file=sys.stderr)
        return False


def main() -> int:
    o = options()
    config = ss.Config(credentials=ss.Credential.from_files(o.cert, o.key))
    if o.ca:
        config = config.replace(
            trust=ss.TrustStore.from_files(o.ca), client_certificate=ss.ClientCertificate.REQUIRE
        )
    with ss.listen((o.bind, o.port), config) as listener:
        host, port = listener.address[:2]
        print(f"listening on [{host}]:{port}" if ":" in host else f"listening on {host}:{port}", flush=True)
        if o.once:
            return 0 if run(*listener.accept(), o) else 2
        while True:
            connection, address = listener.accept()
            threading.Thread(target=run, args=(connection, address, o), daemon=True).start()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        sys.exit(f"server.py: {error}")
    except KeyboardInterrupt:
        os._exit(130)
