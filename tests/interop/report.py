"""The table, from the results."""

import early
import exceptions
from pki import KINDS

REFUSALS = ["other name", "expired", "untrusted", "no client certificate", "client of other issuer", "client expired",
            "client untrusted", "version", "ALPN", "RSASSA-PSS key"]
INTRODUCTION = """# Foreign peers

What `script/interop` found: connections over TCP between this library and TLS libraries of others, each with
certificates that were made for the run. This page is written by `script/interop --write-docs`, when no row has failed;
`script/test` runs the short form.

{versions}
"ok": {bytes} bytes or more went either way and are the same; each side closed with close_notify and saw the other's;
version, kind of the key and client certificate are those that were asked for. The client closes its side first, and the
server sends all it has only behind that; "server first" is the other way round. All groups of the library are on, that
of P-521 too: TLS 1.2 needs it for such a certificate.

Stopped at every question: this library's side suspends at `SST_WANT_CERTIFICATE`, `SST_WANT_CERTIFICATE_VERIFY` and
`SST_WANT_PRIVATE_KEY_OPERATION`, as a server at `SST_WANT_CLIENT_HELLO` too, and another thread answers each some
milliseconds later; the signature is made by the system's OpenSSL. Both sides show a certificate.

A number: the alert of the side that refused, as both sides report it. The codes that belong to it are
`ERR_CERT_NAME_MISMATCH`, `ERR_CERT_EXPIRED`, `ERR_CERT_ISSUER_NOT_FOUND`, `ERR_PEER_CERT_REQUIRED`,
`ERR_NO_SHARED_VERSION`, `ERR_NO_APPLICATION_PROTOCOL` where this library refused; where the peer did, -1000 minus the
alert. "client of other issuer": the client has a certificate of an issuer that is not in the server's list, and keeps
it back. "version": one side speaks only the version of the row, the other side only the other version. "RSASSA-PSS
key": the peer has a key of that kind, which this library takes from nobody.

0-RTT: two connections, the second with the session of the first. "ok": early data was taken and came once, as early
data; or it was refused (early data is off, or the ticket is of other keys), or HelloRetryRequest came instead, and the
connection went on without it, where our client sends it again. Other peers have no 0-RTT over TCP that could be driven.

"""


def rows(results):
    return [{"peer": r.case.peer.name, "role": r.case.role, "version": r.case.version, "test": r.case.test,
             "kind": r.case.kind, "verdict": r.verdict, "shown": r.cell, "reason": r.note, "detail": r.detail,
             "seconds": r.seconds}
            for r in results]


class Notes:
    """Reasons, numbered in the order in which the tables need them."""

    def __init__(self):
        self.texts = []

    def mark(self, peer, text):
        if not text:
            return ""
        text = f"{peer.name}: {text}"
        if text not in self.texts:
            self.texts.append(text)
        return f" ({self.texts.index(text) + 1})"

    def text(self):
        return "".join(f"{number}. {note}\n" for number, note in enumerate(self.texts, 1))


def table(results, title, columns, column_of, notes, absent=lambda case, column: ""):
    """A row for each peer, direction and version. absent says why there is no case for a column."""
    cells, cases = {}, {}
    for result in results:
        if (column := column_of(result)) is not None:
            row = (result.case.peer.name, result.case.role, result.case.version)
            cells.setdefault(row, {})[column] = result.cell + notes.mark(result.case.peer, result.note)
            cases[row] = result.case
    used = [column for column in columns if any(column in row for row in cells.values())]
    if not cells:
        return ""
    lines = [f"## {title}", "", "| peer | is the | TLS | " + " | ".join(used) + " |", "|" + "---|" * (3 + len(used))]
    for key, row in cells.items():
        case = cases[key]
        shown = [row[column] if column in row else "-" + notes.mark(case.peer, absent(case, column)) for column in used]
        lines.append(f"| {' | '.join([*key, *shown])} |")
    return "\n".join(lines) + "\n\n"


def column_of_data(result):
    return {"data": result.case.kind, "server first": "server first"}.get(result.case.test)


def no_server_first(case, column):
    return f"no half-close: {exceptions.no_half_close(case.peer, case.role, case.version, column)}"


def tables(results):
    notes = Notes()
    limited = sorted({r.case.test for r in results if r.case.test.startswith("asks for")})
    text = table(results, "Data both ways, by the key of the server", [*KINDS, "server first"], column_of_data, notes,
                 no_server_first)
    text += table(results, "The same with a client certificate, by its key", KINDS,
                  lambda r: r.case.kind if r.case.test == "mutual" else None, notes)
    text += table(results, "The same with our side stopped at every question, by the key of both sides", KINDS,
                  lambda r: r.case.kind if r.case.test == "suspended" else None, notes)
    text += table(results, "Refused, as expected", REFUSALS,
                  lambda r: r.case.test if r.case.test in REFUSALS else None, notes)
    text += table(results, "A server that takes some client certificates only, by the client's key",
                  [f"{test}: {kind}" for test in limited for kind in KINDS],
                  lambda r: f"{r.case.test}: {r.case.kind}" if r.case.test in limited else None, notes)
    if limited:
        text += ("1 is rsa_sign and 64 ecdsa_sign of TLS 1.2 (RFC 5246, 7.4.4), which stands for Ed25519 too (RFC\n"
                 "8422, 5.5); the others are signature schemes. \"ok\": our client sent its certificate if it is of\n"
                 "that kind, and else none, and the connection went on.\n\n")
    text += table(results, "0-RTT", early.TESTS, lambda r: r.case.test if r.case.test in early.TESTS else None, notes)
    return text + (f"## Notes\n\n{notes.text()}\n" if notes.texts else "")


def versions_text(versions):
    return "".join(f"- {peer} {version}\n" for peer, version in versions.items())


def page(results, versions, lacking, seconds):
    text = tables(results) + versions_text(versions)
    text += "".join(f"- FAIL: {peer} did not run: {why}\n" for peer, why in lacking.items())
    text += "".join(f"- FAIL: {result.case.name()}\n" for result in results if result.verdict == "FAIL")
    return text + f"\n{len(results)} connections in {seconds} s.\n"


def document(results, versions, size):
    text = INTRODUCTION.format(versions=versions_text(versions), bytes=f"{size:,}") + tables(results)
    return text.rstrip() + "\n"
