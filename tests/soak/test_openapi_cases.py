"""Ten thousand requests that schemathesis makes of the document, valid and invalid ones."""

from pathlib import Path

import pytest

from tests.harness.system import System
from tests.openapi.schemathesis_run import run_schemathesis

CASES = 10_000


@pytest.mark.timeout(3600)
async def test_schemathesis_has_nothing_to_report(system: System, tmp_path: Path) -> None:
    """What the document allows is taken, what it forbids is refused, and every response is as it says."""
    phases = "examples,coverage,fuzzing,stateful"
    outcome = await run_schemathesis(system, tmp_path, phases=phases, examples=150, seconds=3500)
    print(f"\n{outcome.cases} cases")
    assert outcome.passed, outcome.text
    assert outcome.cases >= CASES
