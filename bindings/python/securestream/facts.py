"""What a stream tells of itself: what was agreed, and what happened."""

from __future__ import annotations

from typing import NamedTuple

from . import _native


class Event(NamedTuple):
    """A fact that needs no answer. `lost` events went before it, because too many waited."""

    kind: int
    value: int
    lost: int
    data: bytes


class Info(NamedTuple):
    """What was agreed, in IANA numbers; 0: nothing yet, or not used. The names are those of IANA, "" for 0."""

    version: int
    suite: int
    group: int
    peer_scheme: int
    local_scheme: int
    flags: int

    @property
    def suite_name(self) -> str:
        """For example "TLS_AES_128_GCM_SHA256"."""
        return _native.sst_suite_name(self.suite) if self.suite else ""

    @property
    def group_name(self) -> str:
        """For example "x25519"."""
        return _native.sst_group_name(self.group) if self.group else ""

    @property
    def peer_scheme_name(self) -> str:
        """The signature scheme of the peer's certificate, for example "ecdsa_secp256r1_sha256"."""
        return _native.sst_scheme_name(self.peer_scheme) if self.peer_scheme else ""

    @property
    def local_scheme_name(self) -> str:
        """That of ours."""
        return _native.sst_scheme_name(self.local_scheme) if self.local_scheme else ""
