"""What many streams share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, cast

from . import _native
from ._checks import check, made, plain_record
from .constants import ClientCertificate, EventKind, Profile, Role, Status, Verify, Version
from .credential import Credential
from .errors import ArgumentError
from .ticket_keys import TicketKeys
from .trust import TrustStore

if TYPE_CHECKING:
    from typing import Unpack

    from _typeshed import ReadableBuffer

    from .question import CertificateRequest, ClientHello, PeerCertificate, SessionLookup, TicketDecryption
    from .session import Session, SessionCache


class Settings(TypedDict, total=False):
    """The keywords of `Config`. What is not given keeps the library's safe default.

    trust                who may issue the peer's certificate. A client without it uses `TrustStore.system()`; a server
                         that asks for client certificates must have one
    credentials          one `Credential` or several; the first that the peer supports is used
    verify               `Verify.FULL` (the default), `CHAIN_ONLY`, `NONE`
    client_certificate   for servers: `ClientCertificate.NONE` (the default), `REQUEST`, `REQUIRE`
    client_cas           for servers: issuers named in the request, each in PEM or DER; none: any issuer is accepted
    alpn                 protocols, best first (RFC 7301)
    alpn_lenient         a server goes on without a common protocol
    min_version, max_version    `Version.TLS1_2` to `Version.TLS1_3`
    groups, tls12_suites, signature_schemes    IANA numbers, best first
    minimum_rsa_bits     the least RSA key, in the peer's chain and of our own: 1024 to 8192. Without it: 2048
    allow_sha1           signatures by SHA-1 in the peer's chain are accepted as well as those by SHA-2
    max_fragment         the most plaintext in a record that is sent: 512 to 16384
    session_tickets      for servers: how many session tickets follow a handshake: 0 to 16. Without it: 1
    ticket_keys          for servers: the `TicketKeys` that seal and open them. Without it: a ring that the config and those
                         made of it by `replace` share
    session_lifetime     how long a session can be resumed, in seconds: 0 (never) to 604,800. Without it: 7,200
    session_cache        for clients: a `SessionCache`; then sessions are asked for, kept, and used by `Connection.client`
                         and `connect`
    early_data           lets a client send, a server take 0-RTT data, which an attacker can replay: see `connect`
    profile              `Profile.DEFAULT`, `COMPAT`
    report               kinds of events to report: see `Stream.next_event`
    suspend_on           `Status.WANT_x`: what a handshake stops for, see `Stream.question`

    Who answers what a handshake stops for. A `Connection` calls them in the thread of its handshake, which waits for as
    long as they take; they must not use the connection. What they raise ends the handshake and is raised by it. With a
    bare `Stream` they are called by `Stream.answer`.

    select_config        for servers: called with a `ClientHello`, returns the `Config` of this connection, whole; None:
                         this one. This one needs no credential then
    select_credential    called with a `CertificateRequest`, returns the `Credential` to show; None: none
    verify_peer          called with a `PeerCertificate`, returns True (good, whatever the verdict), False (not good),
                         or None (as the verdict says)
    find_session         for servers: called with a `SessionLookup`, returns the `Session` of that id; None: not known
    open_ticket          for servers: called with a `TicketDecryption`, returns the session in the ticket; None: unknown
    """

    trust: TrustStore | None
    credentials: Credential | Iterable[Credential]
    verify: Verify
    client_certificate: ClientCertificate
    client_cas: Iterable[ReadableBuffer]
    alpn: Iterable[str | bytes]
    alpn_lenient: bool
    min_version: Version
    max_version: Version
    groups: Sequence[int]
    tls12_suites: Sequence[int]
    signature_schemes: Sequence[int]
    minimum_rsa_bits: int
    allow_sha1: bool
    max_fragment: int
    session_tickets: int
    ticket_keys: TicketKeys | None
    session_lifetime: int
    session_cache: SessionCache | None
    early_data: bool
    profile: Profile
    report: Iterable[EventKind]
    suspend_on: Iterable[Status]
    select_config: Callable[[ClientHello], Config | None] | None
    select_credential: Callable[[CertificateRequest], Credential | None] | None
    verify_peer: Callable[[PeerCertificate], bool | None] | None
    find_session: Callable[[SessionLookup], Session | None] | None
    open_ticket: Callable[[TicketDecryption], ReadableBuffer | None] | None


class Config:
    """What many streams share: immutable, and safe to use from any thread. `Settings` lists the keywords.

    `replace()` gives a changed copy: streams of the old config live on with it. That is how a certificate is reloaded:
    `listener.config = listener.config.replace(credentials=renewed)`.

    Raises `ConfigError`: a setting that cannot be used. `freeze()` finds what is missing for a role; making a stream
    calls it.
    """

    __slots__ = ("_client", "_handle", "_settings", "__weakref__")

    _client: _native.ConfigHandle | None

    def __init__(self, **settings: Unpack[Settings]) -> None:
        unknown = settings.keys() - Settings.__annotations__.keys()
        if unknown:
            raise TypeError(f"Config has no setting {', '.join(sorted(unknown))}")
        self._settings: Settings = _with_lists(settings)
        if self._settings.get("ticket_keys") is None:
            self._settings["ticket_keys"] = TicketKeys()  # one that `replace` hands on
        self._client = None
        self._handle = made(_native.sst_config_new())
        self._apply_protocol(self._settings)
        self._apply_trust(self._settings)

    def replace(self, **changes: Unpack[Settings]) -> Config:
        """A new config with these settings changed."""
        return Config(**(self._settings | changes))

    def freeze(self, role: Role) -> None:
        """Check that streams of `role` can be made, now and not with the first connection.

        Raises `ConfigError`: a server without a credential (`ERR_NO_CREDENTIAL`), an own RSA key below
        `minimum_rsa_bits` (`ERR_UNSUPPORTED_KEY`), a server that asks for client certificates without trust, or an
        empty trust (`ERR_NO_TRUST`), a list that is too long (`ERR_LIST_TOO_LONG`), no suite left (`ERR_BAD_SUITE`).
        What `TrustStore.system` raises, where a client needs it.
        """
        for side in (Role.CLIENT, Role.SERVER) if role == Role.BOTH else (role,):
            self._of_streams(side)

    def _of_streams(self, role: Role) -> _native.ConfigHandle | None:
        """What new streams are made of; None: a server's stream asks for its config."""
        return None if role == Role.SERVER and self._settings.get("select_config") else self._frozen(role)

    def _credentials(self) -> tuple[Credential, ...]:
        credentials = self._settings.get("credentials", ())
        return (credentials,) if isinstance(credentials, Credential) else tuple(credentials)

    def _frozen(self, role: Role) -> _native.ConfigHandle:
        """What streams of `role` are made of."""
        lacks_trust = self._settings.get("trust") is None and self._settings.get("verify", Verify.FULL) != Verify.NONE
        handle = self._of_clients() if role == Role.CLIENT and lacks_trust else self._handle
        check(_native.sst_config_freeze(handle, role), handle, _native.sst_config_last_error)
        return handle

    def _of_clients(self) -> _native.ConfigHandle:
        """A copy with the trust of the system, which a server of the same config must not have.

        Two threads may make two: they are the same.
        """
        if self._client is None:
            trust = TrustStore.system()
            copy = made(_native.sst_config_copy(self._handle))
            check(_native.sst_config_set_trust(copy, trust._handle), copy, _native.sst_config_last_error)
            self._client = copy
        return self._client

    def _apply_protocol(self, s: Settings) -> None:
        c = self._handle
        if "profile" in s:
            self._check(_native.sst_config_set_profile(c, s["profile"]), "profile")
        if "min_version" in s or "max_version" in s:
            lowest, highest = s.get("min_version", Version.TLS1_2), s.get("max_version", Version.TLS1_3)
            self._check(_native.sst_config_set_versions(c, lowest, highest))
        if "groups" in s:
            self._check(_native.sst_config_set_groups(c, s["groups"]))
        if "tls12_suites" in s:
            self._check(_native.sst_config_set_tls12_suites(c, s["tls12_suites"]))
        if "signature_schemes" in s:
            self._check(_native.sst_config_set_signature_schemes(c, s["signature_schemes"]))
        for protocol in s.get("alpn", ()):
            name = protocol.encode() if isinstance(protocol, str) else protocol
            self._check(_native.sst_config_add_alpn(c, name))
        if "alpn_lenient" in s:
            self._check(_native.sst_config_set_alpn_lenient(c, s["alpn_lenient"]), "alpn_lenient")
        if "max_fragment" in s:
            self._check(_native.sst_config_set_max_fragment(c, s["max_fragment"]), "max_fragment")
        kinds = set(s.get("report", ()))
        if s.get("session_cache") is not None:
            kinds.add(EventKind.SESSION)
        if kinds:
            self._check(_native.sst_config_report(c, sum(1 << kind for kind in kinds)), "report")
        self._apply_sessions(s)
        self._apply_questions(s)

    def _apply_sessions(self, s: Settings) -> None:
        c = self._handle
        if "session_tickets" in s:
            self._check(_native.sst_config_set_ticket_count(c, s["session_tickets"]), "session_tickets")
        ticket_keys = s.get("ticket_keys")
        if ticket_keys is not None:
            self._check(_native.sst_config_set_ticket_keys(c, ticket_keys._handle))
        if "session_lifetime" in s:
            self._check(_native.sst_config_set_session_lifetime(c, s["session_lifetime"]), "session_lifetime")
        if "early_data" in s:
            self._check(_native.sst_config_set_early_data(c, s["early_data"]), "early_data")

    def _apply_questions(self, s: Settings) -> None:
        questions = set(s.get("suspend_on", ()))
        if s.get("select_credential"):
            questions.add(Status.WANT_CERTIFICATE)
        if s.get("verify_peer"):
            questions.add(Status.WANT_CERTIFICATE_VERIFY)
        if s.get("find_session"):
            questions.add(Status.WANT_SESSION)
        if s.get("open_ticket"):
            questions.add(Status.WANT_TICKET_DECRYPT)
        first = Status.WANT_CLIENT_HELLO
        if any(question < first for question in questions):
            raise ArgumentError(plain_record(Status.ERR_INVALID_ARGUMENT)._replace(message="suspend_on lists WANT_x"))
        if questions:
            mask = sum(1 << question - first for question in questions)
            self._check(_native.sst_config_suspend_on(self._handle, mask), "suspend_on")

    def _apply_trust(self, s: Settings) -> None:
        c = self._handle
        if "verify" in s:
            self._check(_native.sst_config_set_verify(c, s["verify"]), "verify")
        if "client_certificate" in s:
            self._check(_native.sst_config_set_client_certificate(c, s["client_certificate"]), "client_certificate")
        for ca in s.get("client_cas", ()):
            self._check(_native.sst_config_add_client_ca(c, ca))
        if "minimum_rsa_bits" in s:
            self._check(_native.sst_config_set_minimum_key(c, s["minimum_rsa_bits"]), "minimum_rsa_bits")
        if "allow_sha1" in s:
            self._check(_native.sst_config_set_chain_digests(c, s["allow_sha1"]), "allow_sha1")
        for credential in self._credentials():
            self._check(_native.sst_config_add_credential(c, credential._handle))
        trust = s.get("trust")
        if trust is not None:
            self._check(_native.sst_config_set_trust(c, trust._handle))

    def _check(self, status: int, setting: str = "") -> None:
        if status == Status.ERR_INVALID_ARGUMENT and setting:
            record = plain_record(status)._replace(message=f"{setting} cannot be {self._settings.get(setting)!r}")
            raise ArgumentError(record)
        check(status, self._handle, _native.sst_config_last_error)


def _with_lists(settings: Settings) -> Settings:
    """The settings with iterators read, for `replace` reads them again."""
    copy: dict[str, Any] = dict(settings)
    for name in ("client_cas", "alpn", "groups", "tls12_suites", "signature_schemes", "report", "suspend_on"):
        if name in copy:
            if isinstance(copy[name], (str, bytes, bytearray, memoryview)):
                raise TypeError(f"{name} is a list of values")
            copy[name] = tuple(copy[name])
    if not isinstance(copy.get("credentials", ()), Credential):
        copy["credentials"] = tuple(copy.get("credentials", ()))
    return cast(Settings, copy)
