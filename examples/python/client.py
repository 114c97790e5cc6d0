"""Sends a file over TLS, half-closes, and stores what comes back. It works with the server of examples/c, too.

The two directions run at the same time, in two threads: a program that sends all before it reads can wait for ever for a
peer that waits for it to read.
"""

import argparse
import sys
import threading
import time

import securestream as ss
from transfer import Target, send_file

LOCAL, NO_CONNECTION, NOT_TRUSTED, REFUSED, BROKEN, TIMED_OUT = 1, 2, 3, 4, 5, 6  # exit codes, as of examples/c


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--send", help="the file to send (default: nothing)")
    parser.add_argument("--output", help="where to store what comes (default: standard output)")
    parser.add_argument("--ca", help="trust these issuers (PEM; default: those that the system trusts)")
    parser.add_argument("--server-name", help="expect this name in the certificate instead of HOST")
    parser.add_argument("--cert", help="client certificate chain (PEM)")
    parser.add_argument("--key", help="its private key (PEM)")
    parser.add_argument("--timeout-ms", type=int, default=30000, help="for connecting, and for a silent peer")
    parser.add_argument("--summary", action="store_true", help="show what was negotiated, and the speed")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    return parser.parse_args()


def transfer(connection: ss.Connection, send: str | None, output: str | None) -> tuple[int, int]:
    """Send and receive at once; return how much of each."""
    sent, errors = [0], []

    def write() -> None:
        try:
            sent[0] = send_file(connection, send) if send else 0
            connection.close_write()
        except Exception as error:  # told below: the reader may know more
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    with Target(output) as target:
        received = target.store(connection)
        writer.join()
        if errors:
            raise errors[0]
        target.commit()
    return sent[0], received


def run(o: argparse.Namespace) -> None:
    config = ss.Config(trust=ss.TrustStore.from_files(o.ca) if o.ca else ss.TrustStore.system())
    if o.cert:
        config = config.replace(credentials=ss.Credential.from_files(o.cert, o.key))
    with ss.connect((o.host, o.port), config, server_name=o.server_name, timeout=o.timeout_ms / 1000) as connection:
        if o.summary:
            print(f"client.py: {o.host}: {connection.stream.description}", file=sys.stderr)
        began = time.monotonic()
        sent, received = transfer(connection, o.send, o.output)
        took = max(time.monotonic() - began, 0.001)
    if o.summary:
        speed = (sent + received) / 1e6 / took
        print(f"client.py: sent {sent} bytes, received {received}, {took:.3f} s, {speed:.1f} MB/s", file=sys.stderr)


def refusal(error: ss.CertificateError) -> str:
    return f"""refused, the peer is not trusted: {error}
  code {error.name} ({error.code}), of the reasons {" ".join(sorted(reason.name for reason in error.reasons)) or "(none)"}
  certificates that were sent: {len(error.chain)}
  what to do: {error.hint}"""


def main() -> int:
    o = options()
    try:
        run(o)
        return 0
    except ss.CertificateError as error:
        code, text = NOT_TRUSTED, refusal(error)
    except ss.AlertError as error:
        code, text = REFUSED, f"the peer refused us: {error}"
    except EOFError as error:
        code, text = BROKEN, f"the connection broke off: {error}"
    except TimeoutError:
        code, text = TIMED_OUT, "timed out"
    except ConnectionRefusedError as error:
        code, text = NO_CONNECTION, f"no connection: {error}"
    except ConnectionError as error:
        code, text = REFUSED, str(error)
    except (OSError, ValueError) as error:
        code, text = LOCAL, str(error)
    print(f"client.py: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
