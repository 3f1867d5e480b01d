"""Bookings decided and written in one transaction: each sees the effect of those before it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from services.bookings.actions.batching import Batcher
from services.bookings.context import Bookings
from services.bookings.store import insert_bookings
from services.bookings.store.insert_bookings import Outcome
from shared.db.database import Connection
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member, a_membership, a_spot
from tests.services.bookings.studio_client import Reply, StudioClient


@pytest.fixture
def client(service: Bookings) -> StudioClient:
    """One worker: what arrives while it is busy is its next batch."""
    batcher = Batcher[Any, Any](max_workers=1)
    return StudioClient.for_new_studio(Bookings(db=service.db, wakeup=service.wakeup, batcher=batcher))


def request(class_: dict[str, Any], member: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"class_id": class_["id"], "member_id": member["id"], **more}


def outcomes(replies: Sequence[Reply]) -> list[str | None]:
    return [reply.json.get("status") or reply.code for reply in replies]


async def test_each_booking_of_a_batch_sees_those_before_it(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order of arrival: the last seat, the queue, a member's first booking, and the spots.

    The facts of a free class leave memberships out; the decision on a paid one must still see them.
    """
    full, twice, paid = a_class(capacity=1), a_class(capacity=5), a_class(credit_cost=1)
    spotted, people = a_class(capacity=5, spot_selection_mode="optional"), [a_member() for _ in range(4)]
    spots = [a_spot(spotted["id"], order=order) for order in range(3)]
    card = a_membership(people[0]["id"])
    await client.import_all(full, twice, paid, spotted, *spots, *people, card)
    wishes = [spots[0]["id"], spots[0]["id"], None, None]
    expected = [
        (request(full, people[0]), "confirmed"),
        (request(full, people[1]), "class_full"),
        (request(full, people[2], join_waitlist=True), "waitlisted"),
        (request(full, people[3], join_waitlist=True), "waitlisted"),
        (request(twice, people[0]), "confirmed"),
        (request(twice, people[0]), "already_booked"),
        (request(paid, people[0]), "confirmed"),
        *(
            (request(spotted, person, class_spot_id=spot), result)
            for person, spot, result in zip(
                people, wishes, ["confirmed", "spot_taken", "confirmed", "confirmed"], strict=True
            )
        ),
    ]
    sizes: list[int] = []
    insert = insert_bookings.insert

    async def counted(conn: Connection, outcomes: Sequence[Outcome]) -> None:
        sizes.append(len(outcomes))
        await insert(conn, outcomes)

    monkeypatch.setattr(insert_bookings, "insert", counted)
    _, *replies = await asyncio.gather(
        client.book(new_id(), new_id()),
        *(client.call("POST", "/bookings", body, key=new_id()) for body, _ in expected),
    )
    assert sizes in ([len(expected) + 1], [1, len(expected)]), "one batch"
    assert outcomes(replies) == [result for _, result in expected]
    assert [reply.json.get("waitlist_position") for reply in replies[:4]] == [None, None, 1, 2]
    assert replies[5].details == {"booking_id": replies[4].json["id"]}
    given = [reply.json.get("class_spot_id") for reply in replies[7:]]
    assert given == [spots[0]["id"], None, spots[1]["id"], spots[2]["id"]]
    told = [event["resource"]["id"] for event in await client.events() if event["type"] == "booking.created"]
    assert told == [reply.json["id"] for reply in replies if reply.status == 201]
    assert await inconsistencies(client) == []


async def test_studios_in_one_batch_do_not_mix(client: StudioClient) -> None:
    """The same ids in two studios: each has its own class, member and seat."""
    studios = [client, StudioClient.for_new_studio(client.service)]
    class_, member, key = a_class(capacity=1), a_member(), new_id()
    for studio in studios:
        await studio.import_all(class_, member)
    replies = await asyncio.gather(*(studio.book(class_["id"], member["id"], key=key) for studio in studios))
    assert outcomes(replies) == ["confirmed", "confirmed"]
    for studio, reply in zip(studios, replies, strict=True):
        assert [row["id"] for row in await studio.list_all("/bookings")] == [reply.json["id"]]
        assert await inconsistencies(studio) == []


async def test_a_locked_class_does_not_delay_bookings_of_other_classes(client: StudioClient) -> None:
    """Its own bookings wait for the lock; bookings of other classes in the batch do not."""
    held, free, people = a_class(), a_class(capacity=2), [a_member() for _ in range(3)]
    await client.import_all(held, free, *people)
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, held["id"])
        waiting = asyncio.create_task(client.book(held["id"], people[0]["id"]))
        async with asyncio.timeout(5):
            served = await asyncio.gather(*(client.book(free["id"], person["id"]) for person in people[1:]))
        assert outcomes(served) == ["confirmed", "confirmed"]
        assert not waiting.done()
    assert (await waiting).status == 201


async def test_bookings_that_waited_for_a_lock_keep_their_order_of_arrival(client: StudioClient) -> None:
    """Members are locked in the order of their ids; that order must not decide who gets the seat."""
    class_, people = a_class(capacity=1), sorted((a_member() for _ in range(4)), key=lambda one: one["id"])
    people.reverse()
    await client.import_all(class_, *people)
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, class_["id"])
        requests = [
            asyncio.create_task(client.book(class_["id"], person["id"], join_waitlist=True))
            for person in people
        ]
        await lock_waiters(conn, 1)
    replies = await asyncio.gather(*requests)
    assert [reply.json["waitlist_position"] for reply in replies] == [None, 1, 2, 3]
    assert await inconsistencies(client) == []


async def test_one_booking_that_cannot_be_written_does_not_fail_the_others(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is split up until only the faulty request fails."""
    class_, people = await client.open_class(people=3, capacity=5)
    insert = insert_bookings.insert

    async def refusing(conn: Connection, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.booking and outcome.booking.member_id == people[1]["id"]:
                raise RuntimeError("cannot be written")
        await insert(conn, outcomes)

    monkeypatch.setattr(insert_bookings, "insert", refusing)
    replies = await asyncio.gather(*(client.book(class_["id"], person["id"]) for person in people))
    assert [reply.status for reply in replies] == [201, 500, 201]
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 2
    assert await inconsistencies(client) == []


async def test_a_class_imported_between_lock_and_read_is_locked_first(
    client: StudioClient, database_url: str
) -> None:
    """The class was missing at the lock but there at the read, after an import: the booking starts again."""
    class_, (member,) = await client.open_class()
    conn = await asyncpg.connect(database_url)
    await conn.execute("SET search_path TO bookings")
    text = await conn.fetchval("SELECT pg_get_functiondef('lock_free_classes'::regproc)")
    await conn.execute("CREATE SEQUENCE looks; GRANT ALL ON looks TO studio_bookings")
    await conn.execute(text.replace("BEGIN", "BEGIN IF nextval('looks') = 1 THEN RETURN '{}'; END IF;", 1))
    reply = await client.book(class_["id"], member["id"])
    assert (reply.status, await conn.fetchval("SELECT last_value FROM looks")) == (201, 2)
    await conn.close()


async def lock_waiters(conn: Connection, count: int) -> None:
    async with asyncio.timeout(5):
        while await conn.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted") < count:
            await asyncio.sleep(0.01)
