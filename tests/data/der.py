"""DER by hand, for what no tool makes."""


def element(tag, *content):
    body = b"".join(content)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def parts(der):
    """The elements inside one element."""
    inside = content(der)
    found = []
    while inside:
        body, rest = _split(inside)
        found.append(inside[: len(inside) - len(rest)])
        inside = rest
    return found


def content(der):
    """What is inside one element."""
    return _split(der)[0]


def _split(der):
    """The content of the first element, and what is behind it."""
    length, start = der[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start], "big")
    return der[start : start + length], der[start + length :]


def assemble(tbs, algorithm, signature):
    return element(0x30, tbs, algorithm, element(3, b"\0", signature))


def disassemble(certificate):
    """tbsCertificate, signatureAlgorithm, signature"""
    tbs, algorithm, signature = parts(certificate)
    return tbs, algorithm, content(signature)[1:]


def with_parts(tbs, change):
    """change is given the list of the parts of tbsCertificate: version, serial, algorithm, issuer, validity, subject,
    key, extensions."""
    found = parts(tbs)
    change(found)
    return element(0x30, *found)
