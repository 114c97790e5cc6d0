"""What a peer cannot do, or does in another way than most, with the reason. A row of this table still runs: what is
written here must happen. Nothing else is left out or excused.

CANNOT: (peer, who is it, versions, tests, certificate kinds, reason); "*" stands for all. The connection must fail
cleanly; a later version of the peer that can do it passes as well, and the report says so.
NO_HALF_CLOSE: (peer, who is it, versions, who cannot close first, reason). With "client first" data goes both ways in
another order, and then one side closes; "server first" is then no case.
OTHER_OUTCOME: (peer, who is it, versions, tests, what happens, reason). What happens: a dict with any of "code" (our
status), "sent" (the alert that we send; -1: none), "received" (alerts that may come from the peer; empty: none), "peer
alert" (None: the peer does not tell).
"""

JDK, NODE, CURL, GO, PYTHON = "JDK SSLSocket", "Node tls", "curl", "Go crypto/tls", "Python ssl"
OPENSSL, GNUTLS = "openssl s_server, s_client", "gnutls-serv, gnutls-cli"

CANNOT = [
    (GNUTLS, "client", "1.3", "0-RTT, HelloRetryRequest", "*",
     "hangs: its second ClientHello does not come in plain text (GnuTLS 3.7.9), and no server reads another"),
    (GO, "*", "*", "RSASSA-PSS key", "*", "has no RSASSA-PSS keys: it does not load one"),
]
BOTH = ("client first", "server first")
NO_HALF_CLOSE = [
    (OPENSSL, "*", "*", BOTH, "the command ends when close_notify comes; Python's ssl and Node have the same library"),
    (GNUTLS, "server", "*", BOTH, "gnutls-serv echoes line by line, and closes its own side when close_notify comes"),
    (GNUTLS, "client", "*", "server first", "gnutls-cli ends when close_notify comes; it can close its side first"),
    (CURL, "client", "*", BOTH, "HTTP/1.1 has no use for it; curl ends when the response has ended"),
    (JDK, "*", "1.2", BOTH, "closes its own side when close_notify comes, as RFC 5246, 7.2.1, says"),
]
OTHER_OUTCOME = [
    (CURL, "client", "*", "other name", {"code": "CLOSED", "received": ()},
     "looks at the name when the handshake is done, and leaves with close_notify and no request"),
    (CURL, "client", "1.2", "client expired", {"peer alert": None},
     "has a text of its own in place of OpenSSL's when it gets alert 45"),
    (NODE, "client", "*", ("other name", "expired", "untrusted"),
     {"code": ("ERR_TRUNCATED", "ERR_HANDSHAKE_EOF"), "received": ()},
     "judges the certificate when the handshake is done, and cuts the connection without an alert"),
    (NODE, "server", "*", ("client expired", "client untrusted"),
     {"code": ("ERR_TRUNCATED", "ERR_HANDSHAKE_EOF"), "received": ()},
     "judges the certificate when the handshake is done, and cuts the connection without an alert"),
    (PYTHON, "server", "*", "client of other issuer", {"received": {48}},
     "sends no list of issuers with its request, so that our client sends what it has"),
    (JDK, "server", "1.2", "RSASSA-PSS key", {"code": "ERR_UNSUPPORTED_KEY", "sent": 50, "peer alert": None},
     "sends the certificate, and then finds that it cannot sign with a scheme that we take; we refuse the key before"),
    (PYTHON, "server", "*", "ALPN", {"code": "OK", "received": ()},
     "has no way to refuse: its server goes on without a protocol, and our client, too, takes that (RFC 7301, 3.2)"),
    (JDK, "server", "*", ("no client certificate", "client of other issuer"), {"received": {42}},
     "sends bad_certificate, to other clients too; RFC 8446, 4.4.2.4, wants certificate_required, and RFC 5246, 7.4.6, "
     "handshake_failure"),
    (GNUTLS, "server", "1.2", ("no client certificate", "client of other issuer"), {"received": {50}},
     "sends decode_error for an empty Certificate, to other clients too; RFC 5246, 7.4.6, wants handshake_failure"),
    (GNUTLS, "server", "*", ("client expired", "client untrusted"), {"received": {49}},
     "gnutls-serv sends access_denied for all that it does not trust, to other clients too"),
    (GNUTLS, "server", "*", "version", {"received": {40}},
     "sends handshake_failure, to other clients too; RFC 8446, 4.2.1, wants protocol_version"),
    (GNUTLS, "client", "1.2", "RSASSA-PSS key", {"code": "ERR_ALERT_RECEIVED", "sent": -1, "received": {40}},
     "sends the certificate, and then finds that it cannot sign with a scheme that we take"),
]


def matches(pattern, value):
    return pattern == "*" or value in (pattern if isinstance(pattern, tuple) else (pattern,))


def cannot(case):
    for peer, role, versions, tests, kinds, reason in CANNOT:
        if (matches(peer, case.peer.name) and matches(role, case.role) and matches(versions, case.version)
                and matches(tests, case.test) and matches(kinds, case.kind)):
            return reason
    return None


def no_half_close(peer, role, version, order):
    for name, who, versions, orders, reason in NO_HALF_CLOSE:
        if matches(name, peer.name) and matches(who, role) and matches(versions, version) and matches(orders, order):
            return reason
    return None


def other_outcome(case):
    for peer, role, versions, tests, outcome, reason in OTHER_OUTCOME:
        if (matches(peer, case.peer.name) and matches(role, case.role) and matches(versions, case.version)
                and matches(tests, case.test)):
            return outcome, reason
    return None
