"""An event names two people who are erased one after the other: no order of its copies keeps their data."""

import asyncio
from typing import Any

import pytest

from services.webhooks.actions.log_events import log_events
from services.webhooks.actions.rewritten_events import replace_rewritten
from services.webhooks.store import event_log
from shared.events.bus import Message
from shared.events.envelope import read_envelope
from shared.events.event import EventResource
from shared.events.kinds import MemberCreated
from shared.events.outbox import add_events
from shared.events.outbox_erasure import anonymize_outbox
from shared.events.outbox_rows import Reference
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.services.webhooks.studio_client import StudioClient


async def versions_for_two(client: StudioClient) -> tuple[dict[str, Any], list[Message]]:
    """Bob, and the event as its producer published it: with both, without Ada, and without both.

    Of a kind that is forwarded to the forms service, where nobody consumes in these tests.
    """
    ada = {"id": new_id(), "object": "member", "email": "ada@love.example", "name": "Ada Love"}
    bob = {"id": new_id(), "object": "member", "email": "bob@stone.example", "name": "Bob Stone"}
    data = {"id": new_id(), "note": None, "member": ada, "guests": [bob]}
    event = client.event(MemberCreated, resource=EventResource("member", ada["id"], 1), data=data)
    made = []
    async with client.context.db.transaction() as conn:
        await add_events(conn, [event])
        for one in (None, ada, bob):
            if one is not None:
                assert await anonymize_outbox(conn, client.studio_id, {one["id"]}, {one["email"]}) == 1
            row = await conn.fetchrow("SELECT * FROM outbox")
            assert row is not None
            reference = Reference(row["id"], row["version"]).text()
            made.append(
                Message(event.id, event.type, row["envelope"], source="bookings", reference=reference)
            )
        await conn.execute("DELETE FROM outbox")
    assert [people(message.body) for message in made] == [{"Ada", "Bob"}, {"Bob"}, set()], "control"
    return bob, made


def people(body: bytes) -> set[str]:
    words = {"Ada": (b"Ada", b"ada@love"), "Bob": (b"Bob", b"bob@stone")}
    return {name for name, found in words.items() if any(word in body for word in found)}


async def erase(client: StudioClient, person: dict[str, Any]) -> None:
    body = {"studio_id": client.studio_id, "member_id": person["id"], "emails": [person["email"]]}
    assert (await client.call("POST", "/internal/erase", body, caller=client.operator)).status == 200


async def left(client: StudioClient) -> tuple[set[str], set[str]]:
    """Whose data is in the log, and whose is in what waits to be forwarded."""
    [row] = await client.sql("SELECT body FROM events")
    [forward] = await client.sql("SELECT envelope FROM outbox")
    return people(row["body"]), people(forward["envelope"])


@pytest.mark.parametrize("stored_first", [0, 2], ids=["original-first", "newest-first"])
async def test_an_earlier_rewritten_version_that_arrives_late_changes_nothing(
    client: StudioClient, stored_first: int
) -> None:
    """A redelivery of the first erasure's copy must not bring back the second person."""
    _, messages = await versions_for_two(client)
    for place in (stored_first, 2, 1):
        await log_events(client.context, [messages[place]])
    assert await left(client) == (set(), set())


async def test_a_version_that_knows_less_does_not_undo_an_erasure_in_the_log(client: StudioClient) -> None:
    """The log erases what it has by itself, and a copy on its way may have been rewritten before."""
    bob, messages = await versions_for_two(client)
    await log_events(client.context, [messages[0]])
    await log_events(client.context, [messages[1]])
    await erase(client, bob)
    await log_events(client.context, [messages[1]])
    assert await left(client) == (set(), set())


@pytest.mark.parametrize("later", [(1,), (2,), (1, 2), (2, 1)], ids=["first", "second", "both", "reversed"])
async def test_an_erasure_in_the_log_does_not_keep_out_an_earlier_one_that_is_on_its_way(
    client: StudioClient, later: tuple[int, ...]
) -> None:
    """Ada was erased before the log had the event, Bob afterwards: the rewritten copies are merged."""
    bob, messages = await versions_for_two(client)
    await log_events(client.context, [messages[0]])
    await erase(client, bob)
    assert await left(client) == ({"Ada"}, {"Ada"}), "control"
    for place in later:
        await log_events(client.context, [messages[place]])
        assert await left(client) == (set(), set())
    await log_events(client.context, [messages[0]])
    assert await left(client) == (set(), set())
    [row] = await client.sql("SELECT body FROM events")
    assert bob["id"].encode() in row["body"], "control: ids stay"


async def test_an_erasure_does_not_write_back_what_a_newer_copy_replaces_at_the_same_time(
    client: StudioClient,
) -> None:
    """The newer copy's transaction is open when the erasure searches: it waits, and reads again."""
    bob, messages = await versions_for_two(client)
    await log_events(client.context, [messages[0]])
    async with client.context.db.transaction() as conn:
        await event_log.lock_counters(conn, [client.studio_id])
        assert await replace_rewritten(conn, set(), [(messages[1], read_envelope(messages[1].body))])
        erasing = asyncio.create_task(erase(client, bob))
        await eventually(lambda: waits_for_a_lock(client))
    await erasing
    assert await left(client) == (set(), set())


WAITING = """
SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
  AND (query LIKE '%event_counters%' OR query LIKE '%UPDATE events%')
"""


async def waits_for_a_lock(client: StudioClient) -> bool:
    return bool(await client.sql(WAITING))
