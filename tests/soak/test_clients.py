"""1,000 writes of every kind through every client, while half of the attempts are broken."""

import sys

from tests.clients.conftest import Drive
from tests.clients.conftest import drive as drive
from tests.clients.conftest import node as node
from tests.clients.writes import check_each_once, write_through_faults
from tests.harness.system import System

WRITES = 1000


async def test_a_thousand_writes_of_every_kind_have_their_effects_once(system: System, drive: Drive) -> None:
    """Fewer only where a client may not have so many endpoints, or links into the console."""
    outcome = await write_through_faults(system, drive, WRITES)
    sys.stdout.write(f"{sum(outcome.proxy.attempts.values())} attempts, {dict(outcome.proxy.faults)}\n")
    await check_each_once(outcome)
