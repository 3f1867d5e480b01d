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
    """One worker, kept busy by `book_in_one_batch` until all requests are queued."""
    batcher = Batcher[Any, Any](max_workers=1)
    return StudioClient.for_new_studio(Bookings(db=service.db, wakeup=service.wakeup, batcher=batcher))


async def book_in_one_batch(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch, *requests: dict[str, Any]
) -> list[Reply]:
    """Books all of them behind a request that keeps the worker busy, and checks that it was one batch."""
    sizes: list[int] = []
    insert = insert_bookings.insert

    async def counted(conn: Connection, outcomes: Sequence[Outcome]) -> None:
        sizes.append(len(outcomes))
        await insert(conn, outcomes)

    monkeypatch.setattr(insert_bookings, "insert", counted)
    replies = await asyncio.gather(
        client.book(new_id(), new_id()),
        *(client.call("POST", "/bookings", body, key=new_id()) for body in requests),
    )
    assert sizes in ([len(requests) + 1], [1, len(requests)])
    assert await inconsistencies(client) == []
    return replies[1:]


def request(class_: dict[str, Any], member: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"class_id": class_["id"], "member_id": member["id"], **more}


def outcomes(replies: list[Reply]) -> list[str | None]:
    return [reply.json.get("status") or reply.code for reply in replies]


async def test_the_last_seat_goes_once_and_the_queue_is_dense(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order of arrival, events included."""
    class_, people = a_class(capacity=1), [a_member() for _ in range(4)]
    await client.import_all(class_, *people)
    requests = [request(class_, person, join_waitlist=number != 1) for number, person in enumerate(people)]
    replies = await book_in_one_batch(client, monkeypatch, *requests)
    assert outcomes(replies) == ["confirmed", "class_full", "waitlisted", "waitlisted"]
    assert [reply.json.get("waitlist_position") for reply in replies] == [None, None, 1, 2]
    told = [(event["type"], event["resource"]["id"]) for event in await client.events()]
    booked = [("booking.created", reply.json["id"]) for reply in replies if reply.status == 201]
    assert [one for one in told if one[0] == "booking.created"] == booked
    shown = await client.get_ok(f"/classes/{class_['id']}")
    assert (shown["booked_count"], shown["available_count"]) == (1, 0)


async def test_a_member_is_booked_once(client: StudioClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two keys, one class, one member: the second is refused with the first one's id."""
    class_, member = a_class(capacity=5), a_member()
    await client.import_all(class_, member)
    replies = await book_in_one_batch(client, monkeypatch, request(class_, member), request(class_, member))
    assert outcomes(replies) == ["confirmed", "already_booked"]
    assert replies[1].details == {"booking_id": replies[0].json["id"]}


async def test_a_free_class_before_does_not_hide_the_membership(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facts of a free class leave memberships out; the next decision must still see them."""
    member, free, paid = a_member(), a_class(), a_class(credit_cost=1)
    await client.import_all(member, free, paid, a_membership(member["id"]))
    replies = await book_in_one_batch(client, monkeypatch, request(free, member), request(paid, member))
    assert outcomes(replies) == ["confirmed", "confirmed"]


async def test_a_spot_is_given_once(client: StudioClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A requested spot goes to the first request; others get the first free one."""
    class_, people = a_class(capacity=5, spot_selection_mode="optional"), [a_member() for _ in range(4)]
    spots = [a_spot(class_["id"], order=order) for order in range(3)]
    await client.import_all(class_, *spots, *people)
    wishes = [spots[0]["id"], spots[0]["id"], None, None]
    requests = [
        request(class_, person, class_spot_id=spot) for person, spot in zip(people, wishes, strict=True)
    ]
    replies = await book_in_one_batch(client, monkeypatch, *requests)
    assert outcomes(replies) == ["confirmed", "spot_taken", "confirmed", "confirmed"]
    given = [reply.json.get("class_spot_id") for reply in replies]
    assert given == [spots[0]["id"], None, spots[1]["id"], spots[2]["id"]]


async def test_studios_in_one_batch_do_not_mix(client: StudioClient) -> None:
    """The same ids in two studios: each has its own class, member and seat."""
    studios = [client, StudioClient.for_new_studio(client.service)]
    class_, member, key = a_class(capacity=1), a_member(), new_id()
    for studio in studios:
        await studio.import_all(class_, member)
    replies = await asyncio.gather(*(studio.book(class_["id"], member["id"], key=key) for studio in studios))
    assert outcomes(list(replies)) == ["confirmed", "confirmed"]
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
        assert outcomes(list(served)) == ["confirmed", "confirmed"]
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
    class_, people = a_class(capacity=5), [a_member() for _ in range(3)]
    await client.import_all(class_, *people)
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


async def make_class_look_new(conn: "asyncpg.Connection[Any]", which: str) -> None:
    """As if an import had added the class after a booking tried to lock it and before it read the facts.

    `which` says at which calls, by number.
    """
    await conn.execute("SET search_path TO bookings")
    text = await conn.fetchval("SELECT pg_get_functiondef('lock_free_classes'::regproc)")
    await conn.execute("CREATE SEQUENCE looks; GRANT ALL ON looks TO studio_bookings")
    await conn.execute(
        text.replace("BEGIN", f"BEGIN IF nextval('looks') {which} THEN RETURN '{{}}'; END IF;", 1)
    )


async def test_a_class_imported_between_lock_and_read_is_locked_first(
    client: StudioClient, database_url: str
) -> None:
    """The class was missing at the lock but there at the read, after an import: the booking starts again."""
    class_, member = a_class(), a_member()
    await client.import_all(class_, member)
    conn = await asyncpg.connect(database_url)
    await make_class_look_new(conn, "= 1")
    reply = await client.book(class_["id"], member["id"])
    assert (reply.status, await conn.fetchval("SELECT last_value FROM looks")) == (201, 2)
    await conn.close()


async def test_a_duplicate_in_flight_of_a_class_that_is_being_imported_gets_503(
    client: StudioClient, database_url: str
) -> None:
    """The duplicate waits for the key, gets it when the first request fails, and then meets an import that
    adds the class between its lock and its read: nothing was done.
    """
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_, member)
    conn = await asyncpg.connect(database_url)
    async with client.service.db.transaction() as holder:
        await holder.execute("SELECT lock_class($1, $2)", client.caller.studio_id, class_["id"])
        first = asyncio.create_task(client.book(class_["id"], member["id"], key=key))
        await lock_waiters(conn, 1)
        again = asyncio.create_task(client.book(class_["id"], member["id"], key=key))
        await lock_waiters(conn, 2)
        await make_class_look_new(conn, "> 0")
        await conn.execute(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
            "WHERE wait_event_type = 'Lock' AND query LIKE '%start_bookings%'"
        )
        assert (await first).status == 503
    reply = await again
    assert (reply.status, reply.code) == (503, "service_unavailable")
    assert await client.list_all("/bookings") == []
    await conn.close()


async def test_a_booking_updates_its_class_without_touching_an_index(client: StudioClient) -> None:
    """Postgres can do so (a HOT update) while no index, nor its condition, names what a booking changes."""
    async with client.service.db.connection() as conn:
        found = await conn.fetch(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'bookings' AND tablename = 'classes'"
            " AND indexdef ~ 'booked_count|version'"
        )
    assert found == []


async def lock_waiters(conn: Connection, count: int) -> None:
    async with asyncio.timeout(5):
        while await conn.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted") < count:
            await asyncio.sleep(0.01)
