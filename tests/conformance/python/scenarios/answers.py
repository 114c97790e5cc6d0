"""Answers to the questions of streams (README.md, section 3)."""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import securestream as ss
from support import SCHEMES, credential, key

from .clauses import of_caller
from .failure import Failure
from .form import Clause, answer, form
from .rings import open_ticket
from .side import named, same_status
from .world import World

_HASHES: dict[int, hashes.HashAlgorithm] = {
    SCHEMES["ecdsa_secp256r1_sha256"]: hashes.SHA256(),
    SCHEMES["ecdsa_secp384r1_sha384"]: hashes.SHA384(),
    SCHEMES["ecdsa_secp521r1_sha512"]: hashes.SHA512(),
    SCHEMES["rsa_pss_rsae_sha256"]: hashes.SHA256(),
    SCHEMES["rsa_pss_rsae_sha384"]: hashes.SHA384(),
    SCHEMES["rsa_pss_rsae_sha512"]: hashes.SHA512(),
    SCHEMES["rsa_pkcs1_sha256"]: hashes.SHA256(),
    SCHEMES["rsa_pkcs1_sha384"]: hashes.SHA384(),
    SCHEMES["rsa_pkcs1_sha512"]: hashes.SHA512(),
}


def sign(name: str, scheme: int, message: bytes) -> bytes:
    """A signature with the private key of that name, which the library never sees."""
    private = load_pem_private_key(key(name), None)
    if isinstance(private, ed25519.Ed25519PrivateKey):
        return private.sign(message)
    digest = _HASHES[scheme]
    if isinstance(private, ec.EllipticCurvePrivateKey):
        return private.sign(message, ec.ECDSA(digest))
    if not isinstance(private, rsa.RSAPrivateKey):
        raise Failure(f"{name}.key is of no kind that signs")
    if scheme >> 8 == 0x08:
        return private.sign(message, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
    return private.sign(message, padding.PKCS1v15(), digest)


def _give(world: World, role: str, given: Clause) -> int:
    """The code of posting an answer."""
    try:
        given.perform(world, world.sides[role].stream, role, *given.values)
    except ss.SecureStreamError as error:
        return error.code
    return ss.Status.OK


@form("when", "ROLE answers ANSWER")
def _answers(world: World, role: str, given: Clause) -> None:
    code = _give(world, role, given)
    if code != ss.Status.OK:
        raise Failure(f"the answer: expected OK, got {named(code)}")


@form("then", "ROLE answering ANSWER fails with CODE")
def _answering_fails(world: World, role: str, given: Clause, code: int) -> None:
    same_status("the answer", _give(world, role, given), code)


@answer("with config TEXT")
def _with_config(world: World, stream: ss.Stream, role: str, name: bytes) -> None:
    stream.set_config(world.described(name))


@answer("with its own config")
def _with_own_config(world: World, stream: ss.Stream, role: str) -> None:
    stream.set_config(world.own_config(role))


@answer("with leaf LEAF whose caller signs by LIST")
def _with_leaf_of_caller(world: World, stream: ss.Stream, role: str, leaf: str, schemes: list[bytes]) -> None:
    stream.set_credential(of_caller(leaf, schemes))


@answer("with leaf LEAF")
def _with_leaf(world: World, stream: ss.Stream, role: str, leaf: str) -> None:
    stream.set_credential(credential(leaf))


@answer("with no leaf")
def _with_no_leaf(world: World, stream: ss.Stream, role: str) -> None:
    stream.set_credential(None)


@answer("with a signature of LEAF")
def _with_signature_of(world: World, stream: ss.Stream, role: str, leaf: str) -> None:
    operation = stream.question
    if isinstance(operation, ss.PrivateKeyOperation):
        stream.set_signature(sign(leaf, operation.scheme, operation.message))
    else:
        stream.set_signature(b"x")  # any must be refused


@answer("with signature DATA")
def _with_signature(world: World, stream: ss.Stream, role: str, signature: bytes) -> None:
    stream.set_signature(signature)


@answer("with the session")
def _with_the_session(world: World, stream: ss.Stream, role: str) -> None:
    stream.answer_session(world.session)


@answer("with no session")
def _with_no_session(world: World, stream: ss.Stream, role: str) -> None:
    stream.answer_session(None)


@answer("that the ticket is unknown")
def _ticket_is_unknown(world: World, stream: ss.Stream, role: str) -> None:
    stream.ignore_ticket()


@answer("with the ticket opened by TEXT")
def _with_opened_ticket(world: World, stream: ss.Stream, role: str, key_name: bytes) -> None:
    question = stream.question
    if isinstance(question, ss.TicketDecryption):
        stream.set_ticket_plaintext(open_ticket(key_name, question.ticket))
    else:
        stream.set_ticket_plaintext(b"x")  # anything must be refused


@answer("with ticket contents DATA")
def _with_ticket_contents(world: World, stream: ss.Stream, role: str, contents: bytes) -> None:
    stream.set_ticket_plaintext(contents)


@answer("that it will send again")
def _will_send_again(world: World, stream: ss.Stream, role: str) -> None:
    stream.continue_without_early_data()


@answer("yes")
def _yes(world: World, stream: ss.Stream, role: str) -> None:
    stream.accept()


@answer("as the verdict says")
def _as_the_verdict_says(world: World, stream: ss.Stream, role: str) -> None:
    stream.accept_default()


@answer("no with alert N")
def _no_with_alert(world: World, stream: ss.Stream, role: str, alert: int) -> None:
    stream.reject(alert)


@answer("no")
def _no(world: World, stream: ss.Stream, role: str) -> None:
    stream.reject()
