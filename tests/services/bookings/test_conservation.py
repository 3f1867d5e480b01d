"""A sample of the soak's 100,000 mixed operations with kills."""

import pytest

from tests.services.bookings.conservation import Conservation, fleet
from tests.services.bookings.studio_client import StudioClient

OPERATIONS, KILL_EVERY = 900, 350
# What such a run must have met.
REACHED = (
    "book: confirmed", "join: waitlisted", "hold: held", "confirm: confirmed", "cancel: cancelled",
    "move: moved", "move: class_full", "book: class_full",
)  # fmt: skip


@pytest.mark.timeout(300)
async def test_seats_credits_and_money_are_conserved(client: StudioClient, database_url: str) -> None:
    """Each operation had one effect, the one that it was told: what was answered is what is stored."""
    run = Conservation(client, seed=7)
    await run.open()
    async with fleet(run.client, database_url) as running:
        await run.run(running, OPERATIONS, kill_every=KILL_EVERY)
        assert await run.problems() == []
        assert running.kills >= 2 and running.repeated
        # A credit out of nowhere does not escape it.
        async with client.service.db.connection() as conn:
            sql = "UPDATE members SET credits = credits + 1 WHERE id = $1"
            await conn.execute(sql, run.people[0]["id"])
        assert len(await run.problems()) == 2
    assert [name for name in REACHED if not run.outcomes[name]] == [], run.report(running)
