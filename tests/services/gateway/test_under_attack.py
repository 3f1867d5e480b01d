"""A short version of `make soak`'s hostile run: a few seconds, a tenth of the connections."""

from tests.harness.hostile_run import Sizes, run_hostile
from tests.harness.system import System


async def test_a_well_behaved_partner_is_served_while_others_attack(system: System) -> None:
    """With silent, slow-sending and slow-reading clients, hostile receivers and a flood, none of its calls is
    refused and no event is lost. The long run measures how much slower it gets, on a quiet machine.
    """
    sizes = Sizes(
        silent=200,
        slow_sending=50,
        slow_reading=50,
        receivers=8,
        seconds=4,
        quiet_seconds=1,
        keep_alive=100,
        large_bodies=8,
    )
    report = await run_hostile(system, sizes)
    assert report.refused == 0, report.text()
    assert report.arrived == report.created > 0, report.text()
    assert len(report.attacked) >= 5, report.text()
    assert max(report.memory_mb.values()) < 450, report.text()
