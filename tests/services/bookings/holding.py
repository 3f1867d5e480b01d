"""Makes, ends and counts holds, for tests."""

from typing import Any

import msgspec

from tests.services.bookings.studio_client import StudioClient

# As if it had been made earlier. The database's clock decides, so that no test has to wait.
END = """
UPDATE bookings SET held_until = clock_timestamp() - interval '1 second',
    created_at = created_at - interval '1 minute', updated_at = updated_at - interval '1 minute'
WHERE id = $1 AND status = 'held'
"""


async def held(client: StudioClient, class_: Any, member: Any, **more: Any) -> Any:
    reply = await client.book(class_["id"], member["id"], **{"hold_seconds": 300, **more})
    assert reply.status == 201, reply.body
    assert reply.json["status"] == "held"
    return reply.json


async def run_out(client: StudioClient, *bookings: Any) -> None:
    """The loops are not running here: nobody writes that they have ended."""
    async with client.service.db.connection() as conn:
        for booking in bookings:
            assert await conn.execute(END, booking["id"]) == "UPDATE 1"


async def shown(client: StudioClient, class_: Any) -> tuple[int, int, int]:
    """Booked, held and available, as GET and the list tell them."""
    one = await client.get_ok(f"/classes/{class_['id']}")
    (listed,) = await client.list_all("/classes", ids=class_["id"])
    assert one == listed
    return one["booked_count"], one["held_count"], one["available_count"]


def with_scopes(client: StudioClient, *scopes: str) -> StudioClient:
    return StudioClient(client.service, msgspec.structs.replace(client.caller, scopes=frozenset(scopes)))


async def told(client: StudioClient) -> list[str]:
    return [event["type"] for event in await client.events()]
