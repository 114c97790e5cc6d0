"""The thin layer between the raw module and the facade: statuses become exceptions, None becomes a missing object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

from . import _native
from .constants import Status
from .errors import CertificateError, Record, SecureStreamError, error_class

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_Handle = TypeVar("_Handle")
LastError = Callable[[_Handle], tuple[int, tuple[int, int, int, int, int, str]]]


def made(handle: _Handle | None) -> _Handle:
    """The handle of a new object, or `MemoryError`."""
    if handle is None:
        raise MemoryError
    return handle


def bytes_view(data: ReadableBuffer) -> memoryview:
    """A buffer as bytes. Raises `TypeError` where it is not contiguous."""
    view = memoryview(data)
    return view.cast("B") if view.nbytes else memoryview(b"")


def failure(
    status: int,
    handle: _Handle,
    last_error: LastError[_Handle],
    progress: _native.Progress | None = None,
    output: bytes = b"",
    *,
    way_out: str = "",
) -> SecureStreamError:
    """The exception for a failed call on `handle`, with `way_out` behind its message.

    The object's record tells more than the status; codes that changed nothing leave none.
    """
    record = Record(*last_error(handle)[1])
    if record.code != status:
        record = plain_record(status)
    if way_out:
        record = record._replace(message=f"{record.message}: {way_out}")
    kind = error_class(status)
    may_have_chain = issubclass(kind, CertificateError) or status == Status.ERR_REJECTED
    if may_have_chain and isinstance(handle, _native.StreamHandle):
        chain = certificates(_native.sst_stream_refused_certificate, handle)
        if chain or status != Status.ERR_REJECTED:
            return CertificateError(record, progress, output, chain)
    return kind(record, progress, output)


def certificates(getter: Callable[[_Handle, int], tuple[int, bytes]], handle: _Handle) -> tuple[bytes, ...]:
    """What a getter of certificates has, up to the first that is none."""
    chain: list[bytes] = []
    while certificate := value(getter(handle, len(chain))):
        chain.append(certificate)
    return tuple(chain)


def plain_record(status: int) -> Record:
    return Record(status, -1, -1, 0, 0, f"{_native.sst_status_text(status)} ({_native.sst_status_name(status)})")


def check(status: int, handle: _Handle, last_error: LastError[_Handle]) -> None:
    if status < 0:
        raise failure(status, handle, last_error)


def text(status_and_bytes: tuple[int, bytes]) -> str | None:
    """What a getter of text gave; None: none."""
    return status_and_bytes[1].decode("utf-8", "surrogateescape") or None


def value(status_and_bytes: tuple[int, bytes]) -> bytes:
    """What a getter of bytes gave, or the exception for its status."""
    status, data = status_and_bytes
    if status < 0:
        refuse(status)
    return data


def refuse(status: int) -> NoReturn:
    """Raise for a status that leaves no record."""
    raise error_class(status)(plain_record(status))
