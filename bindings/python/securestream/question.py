"""What a handshake stops for: which config, which certificate, is the peer good, the signature please.

    match stream.question:
        case ClientHello(server_name=name):
            stream.set_config(configs.get(name, default))
        case CertificateRequest():
            stream.set_credential(None)
        case PeerCertificate(verdict=None):
            stream.accept_default()
        case PeerCertificate():
            stream.reject()
        case PrivateKeyOperation(scheme, message):
            stream.set_signature(sign(scheme, message))
        case EarlyDataRetry():
            stream.continue_without_early_data()

A question is a copy of facts, which any thread may look at for as long as it likes. The answer comes once, from any
thread, any time later; the next handshake call goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from . import _native
from ._checks import certificates, check, plain_record, refuse, text, value
from .constants import Role, State, Status
from .errors import CertificateError, Record, StateError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from .config import Config
    from .credential import Credential
    from .session import Session


class ClientHello(NamedTuple):
    """Which config? What the client has said of itself (RFC 8446, 4.1.2), in IANA numbers, best first."""

    server_name: str | None
    alpn: tuple[str, ...]
    versions: tuple[int, ...]
    suites: tuple[int, ...]
    groups: tuple[int, ...]
    schemes: tuple[int, ...]
    message: bytes  # without its header of 4 bytes

    def extension(self, kind: int) -> bytes:
        """The body of an extension; b"": it is empty, or there is none."""
        message, at = self.message, 34  # behind version and random

        def _number(size: int) -> int:
            return int.from_bytes(message[at : at + size], "big")

        for size in (1, 2, 1):  # session id, suites, compression methods
            at += size + _number(size)
        at += 2
        while at < len(message):
            found = _number(2)
            at += 2
            body = message[at + 2 : at + 2 + _number(2)]
            at += 2 + len(body)
            if found == kind:
                return body
        return b""


class CertificateRequest(NamedTuple):
    """Which certificate? What the peer accepts: signature schemes, and issuers by their X.501 names (DER); none: any."""

    schemes: tuple[int, ...]
    issuers: tuple[bytes, ...]
    server_name: str | None


class PeerCertificate(NamedTuple):
    """Is this peer good? `verdict` is what the config's own rules say; None: it is.

    `chain` is in DER as the peer sent it, the leaf first. It has not proved yet that it has the key: the handshake does
    that behind the answer.
    """

    verdict: CertificateError | None
    chain: tuple[bytes, ...]
    ocsp_response: bytes
    scts: bytes
    server_name: str | None


class PrivateKeyOperation(NamedTuple):
    """The signature of `message`, please: by the key of `chain`, under `scheme`. The message is whole, and not hashed."""

    scheme: int
    message: bytes
    chain: tuple[bytes, ...]


class SessionLookup(NamedTuple):
    """The session of this id? Of a TLS 1.2 server, for a client that has no tickets."""

    session_id: bytes


class TicketDecryption(NamedTuple):
    """The session in this ticket, which no key of the ring opens?"""

    ticket: bytes


class EarlyDataRetry(NamedTuple):
    """The server did not take the early data: it has reached nobody, and must be sent again."""


Question = (
    ClientHello
    | CertificateRequest
    | PeerCertificate
    | PrivateKeyOperation
    | SessionLookup
    | TicketDecryption
    | EarlyDataRetry
)


def _client_hello(handle: _native.StreamHandle) -> ClientHello:
    message = value(_native.sst_stream_client_hello(handle))

    def _numbers(which: int) -> tuple[int, ...]:
        return tuple(_native.sst_stream_client_hello_list(handle, which)[1])

    protocols: list[str] = []
    while protocol := text(_native.sst_stream_client_hello_alpn(handle, len(protocols))):
        protocols.append(protocol)
    return ClientHello(
        server_name=text(_native.sst_stream_server_name(handle)),
        alpn=tuple(protocols),
        # Who knows TLS 1.2 at most has no list of versions (RFC 8446, 4.2.1).
        versions=_numbers(_native.SST_HELLO_VERSIONS) or (int.from_bytes(message[:2], "big"),),
        suites=_numbers(_native.SST_HELLO_SUITES),
        groups=_numbers(_native.SST_HELLO_GROUPS),
        schemes=_numbers(_native.SST_HELLO_SCHEMES),
        message=message,
    )


def _certificate_request(handle: _native.StreamHandle) -> CertificateRequest:
    return CertificateRequest(
        tuple(_native.sst_stream_accepted_schemes(handle)[1]),
        certificates(_native.sst_stream_accepted_ca, handle),
        text(_native.sst_stream_server_name(handle)),
    )


def _peer_certificate(handle: _native.StreamHandle) -> PeerCertificate:
    chain = certificates(_native.sst_stream_peer_certificate, handle)
    status, record = _native.sst_stream_verdict(handle)
    _good(status)
    return PeerCertificate(
        CertificateError(Record(*record), chain=chain) if record[0] < 0 else None,
        chain,
        value(_native.sst_stream_ocsp_response(handle)),
        value(_native.sst_stream_scts(handle)),
        text(_native.sst_stream_server_name(handle)),
    )


def _private_key_operation(handle: _native.StreamHandle) -> PrivateKeyOperation:
    status, _, scheme, message = _native.sst_stream_private_key_operation(handle)
    _good(status)
    return PrivateKeyOperation(scheme, message, certificates(_native.sst_stream_local_certificate, handle))


def _good(status: int) -> None:
    """Raise for a fact that is gone, or an answer that is refused. These leave no record."""
    if status < 0:
        refuse(status)


_READ: dict[int, Callable[[_native.StreamHandle], Question]] = {
    Status.WANT_CLIENT_HELLO: _client_hello,
    Status.WANT_CERTIFICATE: _certificate_request,
    Status.WANT_CERTIFICATE_VERIFY: _peer_certificate,
    Status.WANT_PRIVATE_KEY_OPERATION: _private_key_operation,
    Status.WANT_SESSION: lambda handle: SessionLookup(value(_native.sst_stream_session_id(handle))),
    Status.WANT_TICKET_DECRYPT: lambda handle: TicketDecryption(value(_native.sst_stream_ticket(handle))),
    Status.WANT_EARLY_DATA_RETRY: lambda handle: EarlyDataRetry(),
}


class Suspendable:
    """The part of `Stream` that is about questions and their answers.

    Each answer raises `StateError` where that question is not open, or answered already: nothing has changed then.
    """

    __slots__ = ("_chosen", "_handle", "_want", "config", "role")

    config: Config | None
    role: Role
    _handle: _native.StreamHandle
    _want: int  # the last status of the handshake
    _chosen: Credential | None

    @property
    def question(self) -> Question | None:
        """What the handshake waits for; None: for no answer."""
        known = self._is_suspended and self._want in _READ
        return _READ[self._want](self._handle) if known else None

    def set_config(self, config: Config) -> None:
        """Answer `ClientHello`: nothing of an earlier config stays in force.

        Raises `ConfigError`: no server can be made of it. The question then stays open.
        """
        handle = config._handle
        check(_native.sst_stream_set_config(self._handle, handle), handle, _native.sst_config_last_error)
        self.config = config

    def set_credential(self, credential: Credential | None) -> None:
        """Answer `CertificateRequest`. None: a client shows no certificate, a server fails.

        It is sent whatever issuers the peer accepts. Raises `ConfigError`: it has no key.
        """
        handle = None if credential is None else credential._handle
        _good(_native.sst_stream_set_credential(self._handle, handle))
        self._chosen = credential

    def accept(self) -> None:
        """Answer `PeerCertificate` with yes, whatever the verdict. Only who is good by the verdict counts as verified."""
        _good(_native.sst_stream_accept(self._handle))

    def accept_default(self) -> None:
        """Answer `PeerCertificate` with the verdict."""
        _good(_native.sst_stream_accept_default(self._handle))

    def set_signature(self, signature: ReadableBuffer) -> None:
        """Answer `PrivateKeyOperation`, with a signature as TLS has it (ECDSA: DER)."""
        _good(_native.sst_stream_set_signature(self._handle, signature))

    def answer_session(self, session: Session | None) -> None:
        """Answer `SessionLookup`. None: it is not known, and the handshake is a full one."""
        _good(_native.sst_stream_answer_session(self._handle, None if session is None else session._handle))

    def set_ticket_plaintext(self, plaintext: ReadableBuffer) -> None:
        """Answer `TicketDecryption` with what is in the ticket: section 7 of the header tells how to open one."""
        _good(_native.sst_stream_set_ticket_plaintext(self._handle, plaintext))

    def ignore_ticket(self) -> None:
        """Answer `TicketDecryption`: it cannot be used, and the handshake is a full one."""
        _good(_native.sst_stream_ignore_ticket(self._handle))

    def continue_without_early_data(self) -> None:
        """Answer `EarlyDataRetry`: what was early is sent again by the caller, when the handshake has finished."""
        _good(_native.sst_stream_continue_without_early_data(self._handle))

    def reject(self, alert: int | None = None) -> None:
        """Answer any question with no: the next handshake call raises `ProtocolError` with the code `ERR_REJECTED`.

        `alert`, 1 to 255, goes to the peer; None: the one that is usual for the question.
        """
        _good(_native.sst_stream_reject(self._handle, -1 if alert is None else alert))

    def answer(self) -> None:
        """Answer as the config says: by `select_config`, `select_credential`, `verify_peer`, the credential's `sign`,
        `find_session`, `open_ticket`. `EarlyDataRetry` is answered with yes.

        `Connection` does this. What they raise goes through, and the answer was no. Raises `StateError`: there is no
        question, or nobody to ask.
        """
        if not self._is_suspended:
            raise StateError(plain_record(Status.ERR_STATE))
        try:
            self._answer(self.question)
        except BaseException:
            if self._is_suspended:
                self.reject()
            raise

    @property
    def _is_suspended(self) -> bool:
        return State.SUSPENDED in State(_native.sst_stream_state(self._handle))

    def _answer(self, question: Question | None) -> None:
        settings = {} if self.config is None else self.config._settings
        match question:
            case ClientHello() if select_config := settings.get("select_config"):
                self.set_config(select_config(question) or self._own_config())
            case CertificateRequest() if select_credential := settings.get("select_credential"):
                self.set_credential(select_credential(question))
            case PeerCertificate() if verify_peer := settings.get("verify_peer"):
                good = verify_peer(question)
                if good is None:
                    self.accept_default()
                else:
                    self.accept() if good else self.reject()
            case PrivateKeyOperation():
                self.set_signature(self._signer(question)(question))
            case SessionLookup() if find_session := settings.get("find_session"):
                self.answer_session(find_session(question))
            case TicketDecryption() if open_ticket := settings.get("open_ticket"):
                plaintext = open_ticket(question)
                self.ignore_ticket() if plaintext is None else self.set_ticket_plaintext(plaintext)
            case EarlyDataRetry():
                self.continue_without_early_data()
            case _:
                raise _nobody_answers(Status(self._want))

    def _own_config(self) -> Config:
        assert self.config is not None
        return self.config

    def _signer(self, operation: PrivateKeyOperation) -> Callable[[PrivateKeyOperation], ReadableBuffer]:
        """Of the credential whose chain is sent."""
        credentials = () if self.config is None else self.config._credentials()
        for credential in (self._chosen, *credentials):
            if credential is not None and credential._sign and credential.certificates == operation.chain:
                return credential._sign
        raise _nobody_answers(Status.WANT_PRIVATE_KEY_OPERATION)


def _nobody_answers(want: Status) -> StateError:
    record = plain_record(Status.ERR_STATE)
    return StateError(record._replace(message=f"nobody answers {want.name}: the config names nobody who does"))
