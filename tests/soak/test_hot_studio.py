"""One studio with half of all events: how long the others' events take."""

import pytest

from tests.harness.hot_studio import run_hot_studio
from tests.harness.pipeline import open_pipeline

SAMPLES = 4000


@pytest.mark.timeout(1800)
async def test_a_hot_studio_delays_no_other() -> None:
    """At half of peak, from commit to receipt: the others' p99 is at most 1.5 times that of the control."""
    async with open_pipeline() as pipeline:
        report = await run_hot_studio(pipeline, samples=SAMPLES, rounds=4, peak_events=4000)
    print(f"\n{report.text()}")
    assert min(len(report.hot), len(report.control)) >= 2000
    assert report.ratio <= 1.5
