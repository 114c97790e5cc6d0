"""The driver of the performance cases: each runs, and gives a result as tests/performance/README.md says."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from performance.__main__ import main
from performance.cases import BadCase, Case, read_cases
from support import ROOT

Result = dict[str, Any]
OF_IDLE = ("bytes_per_client", "bytes_per_server", "language_bytes_per_stream", "peak_rss")
CASES = read_cases(ROOT / "tests" / "performance" / "cases.txt")


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    with redirect_stdout(StringIO()) as out:
        main(["--ms", "1", "--run-all"])
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return {line["case"]: line for line in lines}


def test_all_run_but_those_that_take_long(results: dict[str, Result]) -> None:
    assert list(results) == [case.name for case in CASES if not case.long]
    assert any(case.long for case in CASES)


@pytest.mark.parametrize("case", [case for case in CASES if not case.long], ids=lambda case: case.name)
def test_result_is_whole(results: dict[str, Result], case: Case) -> None:
    result = results[case.name]
    assert result["language"] == "Python"
    assert 0 < result["ns_per_op"] <= result["ns_median"] and result["ops"] >= 1
    assert result["library_allocations"] is result["library_bytes"] is None
    assert (result["bytes_per_s"] is None) == (case.kind in ("handshake", "resumed", "early", "idle"))
    assert (result["per_s"] is None) == (case.kind not in ("handshake", "resumed", "early", "echo"))
    if case.kind == "idle":
        assert result["language_allocations"] is result["language_bytes"] is None
        assert 1000 < result["bytes_per_server"] < 4096 and 1000 < result["bytes_per_client"] < 4096
        assert 100 < result["language_bytes_per_stream"] < 1000
        assert result["peak_rss"] > case.streams * (result["bytes_per_server"] + result["bytes_per_client"]) / 2
    else:
        assert result["language_allocations"] >= 0 and result["language_bytes"] > 0
        assert {result[key] for key in OF_IDLE} == {None}


def test_records_leave_no_block_behind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ms", "50", "--run", "WriteReadLargeBuffer4KiB"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["language_allocations"] * result["ops"] < 50 < result["ops"]
    assert result["language_bytes"] < 2000


def test_list_and_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = (ROOT / "tests" / "performance" / "cases.txt").read_text().splitlines()
    assert capsys.readouterr().out.split() == [line.split()[0] for line in lines if line and line[0] != "#"]
    assert main([]) == main(["--run"]) == main(["--ms", "0", "--list"]) == 2
    assert main(["--ms", "1", "--run", "NoSuchCase"]) == 1


@pytest.mark.parametrize(
    "line",
    ["A", "A dance", "A write_read", "A write_read size=0", "A write_read size=x", "A handshake version=1.1",
     "A handshake leaves=x", "A handshake groups=p256", "A transfer size=3", "A transfer size=3 total=10",
     "A handshake over=tcp", "A handshake run=no", "A handshake configs=old", "A handshake threads=17",
     "A handshake threads=2 configs=fresh", "A handshake streams=3", "A idle", "A echo", "A echo size=1 over=pipe",
     "A write_read size=1 threads=2", "A write_read size=1 streams=2", "A resumed size=1", "A early", "A handshake size=1",
     "A resumed client=client-p256", "A early size=1 minimum_rsa=1024", "A resumed threads=2", "A early size=1 over=pipe"],
)  # fmt: skip
def test_line_that_is_not_known_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "cases.txt").write_text(f"# none\n\n{line}\n")
    with pytest.raises(BadCase, match="A"):
        read_cases(tmp_path / "cases.txt")
