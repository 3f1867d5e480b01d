"""Every service is told of a client whose last key has ended, whether the others can be reached or not."""

from typing import Any

from services.gateway.actions.issue_key import deactivate_clients
from services.gateway.context import OperatorContext
from services.gateway.upstream.messages import UpstreamResponse
from shared.db.database import Database
from shared.errors import Unavailable
from shared.wire import new_id

MAKE = """
WITH studio AS (
    INSERT INTO studios (id, slug, name, timezone) VALUES ($1, 'here', 'Here', 'UTC') RETURNING id
)
INSERT INTO clients (studio_id, id, name, rate, burst) SELECT id, $2, 'Gone', 10, 20 FROM studio
"""


class Gateway(OperatorContext, frozen=True, kw_only=True):
    away: set[str]
    told: list[str]

    async def call_service(self, owner: str, *args: Any, **more: Any) -> UpstreamResponse:
        if owner in self.away:
            raise Unavailable
        self.told.append(owner)
        return UpstreamResponse(200, [], b"{}")


async def test_holds_are_released_while_webhooks_is_away(db: Database) -> None:
    """Within seconds; the client is told of again until both have answered."""
    nothing: Any = None
    gateway = Gateway(db, nothing, (), {}, {}, {}, away={"webhooks"}, told=[])
    async with db.connection() as conn:
        await conn.execute(MAKE, new_id(), new_id())
    await deactivate_clients(gateway)
    assert gateway.told == ["bookings"]
    gateway.away.clear()
    await deactivate_clients(gateway)
    await deactivate_clients(gateway)
    assert gateway.told == ["bookings", "webhooks", "bookings"]
