"""The scenarios of tests/conformance, one test a case, and those of tests/conformance/wrong, none of which may pass."""

from __future__ import annotations

import pytest

from scenarios.run import run
from scenarios.scenario import Case, read_scenarios
from support import ROOT

FOLDER = ROOT / "tests" / "conformance"


def cases(folder: str) -> list[Case]:
    return [case for scenario in read_scenarios(FOLDER / folder) for case in scenario.cases()]


@pytest.mark.parametrize("case", cases("."), ids=lambda case: case.name)
def test_scenario(case: Case) -> None:
    message = run(case)
    assert not message, message


@pytest.mark.parametrize("case", cases("wrong"), ids=lambda case: case.name)
def test_wrong_claim_fails(case: Case) -> None:
    assert run(case).startswith(f"{case.scenario.name}.scn:")
