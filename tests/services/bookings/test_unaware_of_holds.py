"""A partner that never sends `hold_seconds` sees the bytes that it knows, whatever others hold."""

import re
from datetime import UTC, datetime
from typing import Any

from services.bookings.actions.end_holds import end_holds
from services.bookings.context import Bookings
from shared.wire import new_id
from tests.services.bookings.holding import held, run_out
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient

ADDED = re.compile(r',"held_(?:count|until)":(?:null|0)(?=[,}])')
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
TIME = re.compile(r'"[0-9-]{10}T[0-9:.]+Z"')
BOOKING = ["id", "object", "class_id", "member_id", "status", "booking_source", "class_spot_id"]
BOOKING += ["waitlist_position", "created_at", "updated_at"]
KNOWN = ("booking.created", "booking.confirmed", "booking.cancelled", "waitlist.updated", "class.updated")
START = datetime(2040, 1, 1, tzinfo=UTC)


def normalized(*texts: bytes) -> str:
    """Ids by the order in which they come, times left out, and the additive fields too."""
    text = "\n".join(ADDED.sub("", one.decode()) for one in texts)
    places: dict[str, str] = {}
    text = ID.sub(lambda found: places.setdefault(found[0], f"#{len(places)}"), text)
    return re.sub(r'"version":\d+', '"version":0', TIME.sub('"time"', text))


async def a_day(client: StudioClient, class_: Any, people: list[Any]) -> list[bytes]:
    """What a partner of the specification does, and what it is answered and told."""
    said = []
    first = await client.book(class_["id"], people[0]["id"])
    second = await client.book(class_["id"], people[1]["id"], join_waitlist=True)
    for reply in (
        first,
        second,
        await client.book(class_["id"], people[0]["id"]),
        await client.book(class_["id"], people[2]["id"]),
        await client.call(
            "POST", "/bookings/preview", {"class_id": class_["id"], "member_id": people[2]["id"]}
        ),
        await client.get(f"/classes/{class_['id']}"),
        await client.get("/bookings", class_id=class_["id"]),
        await client.cancel(first.json["id"]),
        await client.get("/bookings", class_id=class_["id"], status="cancelled", member_id=people[0]["id"]),
        await client.get("/bookings"),
        await client.get("/classes"),
        await client.get("/waitlist"),
        await client.get(f"/bookings/{second.json['id']}"),
    ):
        said.append(re.sub(rb'"request_id":"[^"]*"', b'"request_id":""', reply.body))
    return said


async def events(client: StudioClient) -> list[bytes]:
    async with client.service.db.connection() as conn:
        rows = await conn.fetch(
            "SELECT envelope FROM outbox WHERE studio_id = $1 AND type = ANY ($2) ORDER BY id",
            client.caller.studio_id,
            list(KNOWN),
        )
    return [re.sub(rb'"request_id":"[^"]*"', b'"request_id":""', row["envelope"]) for row in rows]


async def test_the_same_day_with_and_without_other_peoples_holds(service: Bookings) -> None:
    """Lists, errors and events are the same bytes; a booking has its fields in the order that it had."""
    class_, people = a_class(start_time=START), [a_member() for _ in range(3)]
    plain, crowded = (StudioClient.for_new_studio(service) for _ in range(2))
    for client in (plain, crowded):
        await client.import_all(class_, *people)
    other = crowded.with_key(client_id=new_id())
    await other.cancel((await held(other, class_, people[2]))["id"])
    gone = await held(other, class_, people[1])
    await run_out(crowded, gone)
    await end_holds(service)
    assert (await other.confirm(new_id())).status == 404
    told = [event["type"] for event in await crowded.events()]
    assert told.count("booking.held") == 2
    answers = [await a_day(client, class_, people) for client in (plain, crowded)]
    assert normalized(*answers[0]) == normalized(*answers[1])
    first, second = [await events(client) for client in (plain, crowded)]
    # How their ends are told is known, too: with what they were before.
    known = [event for event in second if b'"previous":{"status":"held"}' not in event]
    assert normalized(*first) == normalized(*known)
    assert len(second) == len(known) + 1
    shown = (await crowded.get("/bookings")).json["data"][0]
    assert [name for name in shown if name != "held_until"] == BOOKING
    assert shown["held_until"] is None
