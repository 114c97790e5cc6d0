"""The driver of the performance cases: each runs, and gives a result as tests/performance/README.md says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from performance.__main__ import main
from performance.cases import BadCase, read_cases
from support import ROOT

CASES = read_cases(ROOT / "tests" / "performance" / "cases.txt")


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_case_runs(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["--ms", "1", "--run", name]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["case"], result["language"]) == (name, "Python")
    assert 0 < result["ns_per_op"] <= result["ns_median"] and result["ops"] >= 1
    assert result["library_allocations"] is result["library_bytes"] is None
    assert result["language_allocations"] >= 0 and result["language_bytes"] > 0
    assert (result["bytes_per_s"] is None) == ("Handshake" in name)


def test_records_leave_no_block_behind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ms", "50", "--run", "WriteReadLargeBuffer4KiB"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["language_allocations"] * result["ops"] < 50 < result["ops"]
    assert result["language_bytes"] < 2000


def test_list_and_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.split() == [case.name for case in CASES]
    assert main([]) == main(["--run"]) == main(["--ms", "0", "--list"]) == 2
    assert main(["--ms", "1", "--run", "NoSuchCase"]) == 1


@pytest.mark.parametrize(
    "line",
    ["A", "A dance", "A write_read", "A write_read size=0", "A write_read size=x", "A handshake version=1.1", "A handshake leaves=x",
     "A handshake groups=p256", "A transfer size=3", "A transfer size=3 total=10"],
)  # fmt: skip
def test_line_that_is_not_known_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "cases.txt").write_text(f"# none\n\n{line}\n")
    with pytest.raises(BadCase, match="A"):
        read_cases(tmp_path / "cases.txt")
