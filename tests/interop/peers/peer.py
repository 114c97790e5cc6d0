"""Python's ssl as a peer: the flags and steps of sst_interop, one line of JSON as result (tests/interop/README.md)."""

import _ssl
import argparse
import ctypes
import json
import socket
import ssl
import sys

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
SSL_CTRL_SET_CLIENT_CERT_TYPES = 104


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["client", "server"])
    for flag in ["port", "version", "cert", "key", "ca", "name", "alpn", "send", "receive", "certificate-types"]:
        parser.add_argument(f"--{flag}")
    parser.add_argument("--client-auth", choices=["request", "require"])
    parser.add_argument("--expect", type=int, default=sys.maxsize)
    parser.add_argument("--steps", default="send,close,drain")
    return parser.parse_args()


def set_certificate_types(context, types):
    """ClientCertificateType of a TLS 1.2 request. ssl has no call for it: the SSL_CTX is the first member behind the
    head of CPython's object."""
    pointer = ctypes.c_void_p.from_address(id(context) + object.__basicsize__).value
    control = ctypes.CDLL(_ssl.__file__).SSL_CTX_ctrl
    control.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
    control.restype = ctypes.c_long
    if control(pointer, SSL_CTRL_SET_CLIENT_CERT_TYPES, len(types), types) != 1:
        raise RuntimeError("the certificate types were not taken")


def make_context(flags):
    server = flags.role == "server"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    if flags.version:
        context.minimum_version = context.maximum_version = VERSIONS[flags.version]
    if flags.cert:
        context.load_cert_chain(flags.cert, flags.key)
    if flags.ca:
        context.load_verify_locations(flags.ca)
    if flags.client_auth:
        context.verify_mode = ssl.CERT_REQUIRED if flags.client_auth == "require" else ssl.CERT_OPTIONAL
    if flags.alpn:
        context.set_alpn_protocols([flags.alpn])
    if flags.certificate_types:
        set_certificate_types(context, bytes(int(text) for text in flags.certificate_types.split(",")))
    return context


class Link:
    def __init__(self, sock, context, flags):
        self.sock = sock
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        server = flags.role == "server"
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server, None if server else flags.name)
        self.sent = self.received = 0

    def flush(self):
        if waiting := self.outgoing.read():
            self.sock.sendall(waiting)

    def call(self, function, *values):
        """Calls until it no longer asks for input; what it makes goes out."""
        while True:
            try:
                return function(*values)
            except ssl.SSLWantReadError:
                self.flush()
                if piece := self.sock.recv(65536):
                    self.incoming.write(piece)
                else:
                    self.incoming.write_eof()
            finally:
                self.flush()

    def send(self, path):
        with open(path, "rb") as file:
            data = file.read()
        for at in range(0, len(data), 16384):
            self.call(self.tls.write, data[at : at + 16384])
            self.sent += len(data[at : at + 16384])

    def close(self):
        """close_notify; that the peer has not sent its own yet is no fault."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.flush()

    def take(self, target, limit):
        """True: close_notify came before limit bytes."""
        got = 0
        while got < limit:
            try:
                piece = self.call(self.tls.read, min(65536, limit - got))
            except ssl.SSLZeroReturnError:
                return True
            if not piece:
                return True
            got += len(piece)
            self.received += len(piece)
            target.write(piece)
        return False


def watch_alerts(context, result):
    """The exception names only those alerts that this version of Python has heard of; the messages have them all."""

    def seen(connection, direction, version, content, message, data):
        if content == ssl._TLSContentType.ALERT and direction == "read" and data[1] != 0:
            result["alert"] = data[1]

    context._msg_callback = seen


def main():
    flags = arguments()
    context = make_context(flags)
    if flags.role == "server":
        listener = socket.create_server(("127.0.0.1", 0))
        print(f"port={listener.getsockname()[1]}", flush=True)
        sock, _ = listener.accept()
    else:
        sock = socket.create_connection(("127.0.0.1", int(flags.port)))
    sock.settimeout(30)
    result = {"open": False, "closed": False, "alert": -1, "error": ""}
    watch_alerts(context, result)
    link = Link(sock, context, flags)
    with open(flags.receive, "wb") as target:
        try:
            link.call(link.tls.do_handshake)
            result.update(open=True, version=link.tls.version(), alpn=link.tls.selected_alpn_protocol(),
                          peer_certificate=link.tls.getpeercert(True) is not None)
            for step in flags.steps.split(","):
                if step == "send":
                    link.send(flags.send)
                elif step == "close":
                    link.close()
                else:
                    result["closed"] = link.take(target, flags.expect if step == "take" else sys.maxsize)
        except OSError as error:
            result["error"] = str(error)
    result.update(sent=link.sent, received=link.received)
    print(json.dumps(result), flush=True)
    sock.close()


main()
