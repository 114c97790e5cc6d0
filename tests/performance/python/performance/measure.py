"""How a case is measured (README.md, section 4)."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from time import perf_counter_ns
from typing import cast

from .cases import Case
from .kinds import Idle, Work, begin

_PASSES = 10
_FEW_PASSES = 3  # where one op takes longer than a pass should
_WARM_UP_NS = 50_000_000

_FIELDS = (
    "ns_per_op", "ns_median", "ops", "library_allocations", "library_bytes", "language_allocations", "language_bytes",
    "bytes_per_s", "per_s", "bytes_per_client", "bytes_per_server", "language_bytes_per_stream", "peak_rss",
)  # fmt: skip
Result = dict[str, str | int | float | None]


def _timed(work: Work, ops: int) -> int:
    start = perf_counter_ns()
    work.run(ops)
    taken = perf_counter_ns() - start
    work.check()
    return taken


def _warm_up(work: Work) -> int:
    """What the quickest of some single ops took."""
    start, best = perf_counter_ns(), _timed(work, 1)
    while perf_counter_ns() - start < _WARM_UP_NS:
        best = min(best, _timed(work, 1))
    return max(1, best)


def _blocks(work: Work, ops: int) -> float:
    """Pieces of Python's memory that stay, per op."""
    gc.collect()
    before = sys.getallocatedblocks()
    work.run(ops)
    return max(0, sys.getallocatedblocks() - before) / ops


def _peak(work: Work) -> int:
    """The most bytes that Python holds within one op, beyond what was there before."""
    tracemalloc.start()
    try:
        work.run(1)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _repeated(work: Work, milliseconds: int) -> Result:
    once, of_a_pass = _warm_up(work), milliseconds * 1_000_000 // _PASSES
    ops, passes = max(1, of_a_pass // once), _FEW_PASSES if once > of_a_pass else _PASSES
    taken = sorted(_timed(work, ops) / ops for _ in range(passes))
    return {
        "ns_per_op": taken[0],
        "ns_median": taken[passes // 2],
        "ops": ops,
        "language_allocations": _blocks(work, ops),
        "language_bytes": _peak(work),
    }


def _weighed(work: Idle) -> Result:
    """There is one pass."""
    taken = _timed(work, work.pairs) / work.pairs
    return {"ns_per_op": taken, "ns_median": taken, "ops": work.pairs, **work.weigh()}


def measure(case: Case, milliseconds: int) -> Result:
    work = begin(case)
    result = _weighed(work) if isinstance(work, Idle) else _repeated(work, milliseconds)
    per_s = 1e9 / cast(float, result["ns_per_op"])
    return {
        "case": case.name,
        "language": "Python",
        **dict.fromkeys(_FIELDS),  # None; the library's allocations are those that C counts
        **result,
        "bytes_per_s": work.bytes_per_op * per_s or None,
        "per_s": work.things_per_op * per_s or None,
    }
