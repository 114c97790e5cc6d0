"""Clauses of given steps: what a config and a stream are made with (README.md, section 5)."""

from __future__ import annotations

import datetime
from typing import Any

import securestream as ss
from support import GROUPS, NAME, NOW, SCHEMES, SUITES, credential, data, key, pem

from .failure import Failure, require
from .form import Clause, clause
from .rings import Rings


class Making:
    """A config, and the options of its stream, on their way."""

    def __init__(self, role: ss.Role, version: ss.Version | None, rings: Rings) -> None:
        self.role = role
        self.rings = rings
        self.config = ss.Config(session_tickets=0)
        self.settings: dict[str, Any] = {"session_tickets": 0}
        self.options: dict[str, Any] = {"verify_time": NOW}
        self.has_leaf = self.has_trust = self.reloads = False
        self.has_no_config = False
        self.says_stream = False  # a clause of the stream was carried out
        self.anchors: dict[str, Any] | None = None  # what the trust is made of; None: no clause has begun one
        if role == ss.Role.CLIENT:
            self.options["server_name"] = NAME
        if version is not None:
            self.set(min_version=version, max_version=version)

    def set(self, **settings: Any) -> None:
        """At once: the clause that fails is the first that fails."""
        self.settings.update(settings)
        self.config = self.config.replace(**settings)

    def add(self, name: str, *values: Any) -> None:
        self.set(**{name: [*self.settings.get(name, []), *values]})

    def trust(self, pems: list[bytes], der: list[bytes]) -> None:
        """Begin a trust; of an older one nothing is left."""
        self.has_trust = True
        self.anchors = None
        self._add_to_trust(pems=pems, der=der)

    def more_trust(self, **parts: Any) -> None:
        """Add to the trust of the clause before, or to the default one."""
        require(self.anchors is not None or not self.reloads, "a reload says whom it trusts first")
        self._add_to_trust(**parts)

    def _add_to_trust(self, **parts: Any) -> None:
        anchors = self.anchors or {"pems": [], "der": [], "crls": [], "partial_chain": False}
        for name, value in parts.items():
            anchors[name] = anchors[name] + value if isinstance(value, list) else value
        self.anchors = anchors
        more = {name: value for name, value in anchors.items() if name != "pems"}
        self.set(trust=ss.TrustStore(*anchors["pems"], **more))

    def finish(self) -> None:
        """What no clause has said of the config."""
        server = self.role == ss.Role.SERVER
        if server and not self.has_leaf:
            self.add("credentials", credential())
        if not self.has_trust and (not server or "client_certificate" in self.settings):
            self._add_to_trust(pems=[pem("client-root" if server else "root")])

    def make(self, session: ss.Session | None = None) -> ss.Stream:
        return ss.Stream(None if self.has_no_config else self.config, self.role, session=session, **self.options)

    def tell_stream(self, **options: Any) -> None:
        self.says_stream = True
        self.options.update(options)

    def reload(self, clauses: list[Clause]) -> None:
        """Change a copy of the config: streams that there are keep theirs."""
        self.reloads, self.anchors = True, None
        self.set(credentials=[])
        for perform, values in clauses:
            perform(self, *values)


def carry_out(clauses: list[Clause], role: ss.Role, version: ss.Version | None, rings: Rings) -> Making:
    """All clauses, in order, and the defaults. Raises `SecureStreamError`; the stream is made by `Making.make`."""
    making = Making(role, version, rings)
    for perform, values in clauses:
        perform(making, *values)
    making.finish()
    return making


def numbers(table: dict[str, int], names: list[bytes]) -> list[int]:
    for name in names:
        if name.decode("latin-1") not in table:
            raise Failure(f"unknown name '{name.decode('latin-1')}'")
    return [table[name.decode("latin-1")] for name in names]


def _add(making: Making, added: ss.Credential) -> None:
    making.has_leaf = True
    making.add("credentials", added)


def _add_leaf(making: Making, chain: str, key_name: str, password: bytes | None = None) -> None:
    _add(making, ss.Credential(pem(chain), key(key_name), password=password))


@clause("leaf in PKCS#12 LEAF opened by TEXT")
def _leaf_in_pkcs12_with_password(making: Making, name: str, password: bytes) -> None:
    _add(making, ss.Credential.from_pkcs12(data(f"{name}.p12"), password))


@clause("leaf in PKCS#12 LEAF")
def _leaf_in_pkcs12(making: Making, name: str) -> None:
    _add(making, ss.Credential.from_pkcs12(data(f"{name}.p12")))


@clause("leaf in DER LEAF with key TEXT")
def _leaf_in_der(making: Making, name: str, key_name: bytes) -> None:
    _add(making, ss.Credential.from_der(data(f"{name}.der"), data(f"{key_name.decode()}.key.der")))


@clause("leaf LEAF with its own key")
def _leaf_with_own_key(making: Making, leaf: str) -> None:
    _add(making, ss.Credential(pem(leaf)))


@clause("leaf LEAF with key TEXT opened by TEXT")
def _leaf_with_password(making: Making, leaf: str, key_name: bytes, password: bytes) -> None:
    _add_leaf(making, leaf, key_name.decode(), password)


@clause("leaf LEAF with key TEXT")
def _leaf_with_key(making: Making, leaf: str, key_name: bytes) -> None:
    _add_leaf(making, leaf, key_name.decode())


def of_caller(leaf: str, schemes: list[bytes]) -> ss.Credential:
    """The scenario answers what its stream stops for: nobody is called back."""
    return ss.Credential.with_signer(pem(leaf), _nobody_signs, numbers(SCHEMES, schemes))


def _nobody_signs(operation: ss.PrivateKeyOperation) -> bytes:
    raise Failure(f"called back for {operation}")


@clause("leaf LEAF whose caller signs by LIST")
def _leaf_of_caller(making: Making, leaf: str, schemes: list[bytes]) -> None:
    _add(making, of_caller(leaf, schemes))


@clause("leaf LEAF")
def _leaf(making: Making, leaf: str) -> None:
    _add_leaf(making, leaf, leaf)


@clause("no leaf")
def _no_leaf(making: Making) -> None:
    making.has_leaf = True


@clause("trusts nobody")
def _trusts_nobody(making: Making) -> None:
    making.trust([], [])  # where a config has none, Python means that of the system


def _files(names: list[bytes], ending: str) -> list[bytes]:
    return [data(name.decode() + ending) for name in names]


@clause("trusts LIST in DER")
def _trusts_der(making: Making, names: list[bytes]) -> None:
    making.trust([], _files(names, ".der"))


@clause("trusts LIST")
def _trusts(making: Making, names: list[bytes]) -> None:
    making.trust(_files(names, ".pem"), [])


@clause("checks revocation by LIST in DER")
def _checks_lists_in_der(making: Making, names: list[bytes]) -> None:
    making.more_trust(crls=_files(names, ".der"))


@clause("checks revocation by LIST")
def _checks_lists(making: Making, names: list[bytes]) -> None:
    making.more_trust(crls=_files(names, ".pem"))


@clause("accepts partial chains")
def _accepts_partial(making: Making) -> None:
    making.more_trust(partial_chain=True)


@clause("speaks TLS V to V")
def _speaks_versions(making: Making, lowest: ss.Version, highest: ss.Version) -> None:
    making.set(min_version=lowest, max_version=highest)


@clause("speaks TLS V")
def _speaks(making: Making, version: ss.Version) -> None:
    making.set(min_version=version, max_version=version)


@clause("groups LIST")
def _groups(making: Making, names: list[bytes]) -> None:
    making.set(groups=numbers(GROUPS, names))


@clause("suites LIST")
def _suites(making: Making, names: list[bytes]) -> None:
    making.set(tls12_suites=numbers(SUITES, names))


@clause("schemes LIST")
def _schemes(making: Making, names: list[bytes]) -> None:
    making.set(signature_schemes=numbers(SCHEMES, names))


@clause("stops for QUESTIONS")
def _stops(making: Making, questions: list[ss.Status]) -> None:
    making.set(suspend_on=questions)


@clause("protocols LIST")
def _protocols(making: Making, names: list[bytes]) -> None:
    making.add("alpn", *names)


@clause("N protocols")
def _many_protocols(making: Making, count: int) -> None:
    making.add("alpn", *(f"protocol-{i}" for i in range(count)))


@clause("is lenient about protocols")
def _lenient(making: Making) -> None:
    making.set(alpn_lenient=True)


@clause("has the compat profile")
def _compat(making: Making) -> None:
    making.set(profile=ss.Profile.COMPAT)


@clause("verifies the chain only")
def _chain_only(making: Making) -> None:
    making.set(verify=ss.Verify.CHAIN_ONLY)


@clause("verifies nothing")
def _verifies_nothing(making: Making) -> None:
    making.set(verify=ss.Verify.NONE)


@clause("asks for a certificate")
def _asks(making: Making) -> None:
    making.set(client_certificate=ss.ClientCertificate.REQUEST)


@clause("requires a certificate")
def _requires(making: Making) -> None:
    making.set(client_certificate=ss.ClientCertificate.REQUIRE)


@clause("names LEAF as issuer")
def _names_issuer(making: Making, name: str) -> None:
    making.add("client_cas", pem(name))


@clause("accepts RSA keys of N bits")
def _least_key(making: Making, bits: int) -> None:
    making.set(minimum_rsa_bits=bits)


@clause("accepts SHA-1 in chains")
def _accepts_sha1(making: Making) -> None:
    making.set(allow_sha1=True)


@clause("sends fragments of at most N bytes")
def _fragments(making: Making, size: int) -> None:
    making.set(max_fragment=size)


@clause("sends N session tickets")
def _tickets(making: Making, count: int) -> None:
    making.set(session_tickets=count)


@clause("has ticket keys TEXT")
def _has_ring(making: Making, name: bytes) -> None:
    making.set(ticket_keys=making.rings.of(name))


@clause("keeps sessions for N seconds")
def _lifetime(making: Making, seconds: int) -> None:
    making.set(session_lifetime=seconds)


@clause("allows early data")
def _early_data(making: Making) -> None:
    making.set(early_data=True)


@clause("wants sessions")
def _wants_sessions(making: Making) -> None:
    making.add("report", ss.EventKind.SESSION)


@clause("reports early data")
def _reports_early_data(making: Making) -> None:
    making.add("report", ss.EventKind.EARLY_DATA)


@clause("keeps a key log")
def _key_log(making: Making) -> None:
    making.add("report", ss.EventKind.KEY_LOG)


@clause("reports alerts")
def _alerts(making: Making) -> None:
    making.add("report", ss.EventKind.ALERT_RECEIVED)


@clause("reports key updates")
def _key_updates(making: Making) -> None:
    making.add("report", ss.EventKind.KEYS_UPDATED)


@clause("expects no name")
def _expects_no_name(making: Making) -> None:
    making.tell_stream()
    making.options.pop("server_name", None)


@clause("expects TEXT")
def _expects(making: Making, name: bytes) -> None:
    making.tell_stream(server_name=name)


@clause("checks the name TEXT")
def _checks_name(making: Making, name: bytes) -> None:
    making.tell_stream(verify_name=name)


@clause("judges on DAY")
def _judges(making: Making, day: datetime.datetime) -> None:
    making.tell_stream(verify_time=int(day.timestamp()))


@clause("leaves partial records")
def _leaves_partial(making: Making) -> None:
    making.tell_stream(leave_partial=True)


@clause("has no config")
def _has_no_config(making: Making) -> None:
    making.tell_stream()
    making.has_no_config = True
