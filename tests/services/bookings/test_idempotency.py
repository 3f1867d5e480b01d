"""One effect per key, byte-for-byte replays, and never another client's answer."""

from datetime import timedelta

import msgspec

from services.bookings.context import Bookings
from shared.http.idempotency.stored_responses import prune
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.services.bookings.fault_injection import FaultyDatabase, Stage, raise_error
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient


async def test_a_repeated_key_gives_the_first_answer_byte_for_byte(client: StudioClient) -> None:
    """Success and refusal alike, the body keeping the first request's id; one booking, one event."""
    class_, people = a_class(allow_waitlist=False), [a_member() for _ in range(2)]
    await client.import_all(class_, *people)
    for person, status in zip(people, (201, 409), strict=True):
        key = new_id()
        first = await client.book(class_["id"], person["id"], key=key)
        second = await client.book(class_["id"], person["id"], key=key, join_waitlist=False)
        assert (first.status, first.replayed, second.replayed) == (status, False, True)
        assert (second.status, second.body) == (first.status, first.body)
    assert len(await client.list_all("/bookings")) == 1
    assert [event["type"] for event in await client.events()] == ["booking.created", "class.full"]


async def test_not_found_is_stored_too(client: StudioClient) -> None:
    """A 404 is replayed even after the member exists, and the key is shown as `refused`."""
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_)
    first = await client.book(class_["id"], member["id"], key=key)
    await client.import_all(member)
    second = await client.book(class_["id"], member["id"], key=key)
    assert (first.status, second.status, second.body) == (404, 404, first.body)
    state = (await client.key_state(key)).json
    assert (state["status"], state["http_status"], state["resource_id"]) == ("refused", 404, None)


async def test_a_key_with_other_parameters_is_refused(client: StudioClient) -> None:
    """Another body, operation or query: `idempotency_key_reused`, which is not stored."""
    class_, people, key = a_class(capacity=5), [a_member() for _ in range(2)], new_id()
    await client.import_all(class_, *people)
    first = await client.book(class_["id"], people[0]["id"], key=key)
    other = await client.book(class_["id"], people[1]["id"], key=key)
    assert (other.status, other.code) == (409, "idempotency_key_reused")
    assert (await client.cancel(first.json["id"], key=key)).code == "idempotency_key_reused"
    cancel_key = new_id()
    receipt = await client.cancel(first.json["id"], key=cancel_key, reason="ill")
    assert (await client.cancel(first.json["id"], key=cancel_key)).code == "idempotency_key_reused"
    again = await client.cancel(first.json["id"], key=cancel_key, reason="ill")
    assert (again.body, again.replayed) == (receipt.body, True)
    assert (await client.book(class_["id"], people[0]["id"], key=key)).body == first.body


async def test_the_location_is_checked_again_before_a_replay(client: StudioClient) -> None:
    """A narrower key of the same client gets 404, and the response stays for those who may see it.

    That it may not see a class is a refusal like any other: stored, and replayed.
    """
    here, there = new_id(), new_id()
    class_, member, key = a_class(location_id=here), a_member(), new_id()
    await client.import_all(class_, member)
    first = await client.book(class_["id"], member["id"], key=key)
    narrow = client.with_key(locations=(there,))
    assert (await narrow.book(class_["id"], member["id"], key=key)).status == 404
    assert (await narrow.key_state(key)).status == 404
    refused, again = [await narrow.book(class_["id"], member["id"], key=f"{key}-2") for _ in range(2)]
    assert (refused.status, again.body, again.replayed) == (404, refused.body, True)
    wide = client.with_key(locations=(here,))
    assert (await wide.book(class_["id"], member["id"], key=key)).body == first.body
    cancelled = await client.cancel(first.json["id"], key=f"{key}-3")
    hidden = await narrow.cancel(first.json["id"], key=f"{key}-3")
    assert (hidden.status, hidden.replayed) == (404, False)
    assert (await wide.cancel(first.json["id"], key=f"{key}-3")).body == cancelled.body


async def test_an_answer_is_stored_for_24_hours_by_the_databases_clock(client: StudioClient) -> None:
    """An expired key takes a new effect, pruned or not. Time is moved by ageing the stored rows."""
    class_, people, key = a_class(capacity=5), [a_member() for _ in range(2)], new_id()
    await client.import_all(class_, *people)
    await client.book(class_["id"], people[0]["id"], key=key)

    async def age(interval: timedelta) -> None:
        async with client.service.db.connection() as conn:
            await conn.execute("UPDATE idempotency_keys SET expires_at = expires_at - $1::interval", interval)

    await age(timedelta(hours=23, minutes=59))
    assert (await client.book(class_["id"], people[0]["id"], key=key)).replayed
    await prune(client.service.db)
    assert (await client.book(class_["id"], people[0]["id"], key=key)).replayed
    await age(timedelta(minutes=2))
    assert (await client.key_state(key)).status == 404
    fresh = await client.book(class_["id"], people[1]["id"], key=key)
    assert (fresh.status, fresh.replayed) == (201, False)
    await age(timedelta(hours=25))
    await prune(client.service.db)
    async with client.service.db.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM idempotency_keys") == 0


async def test_a_failed_request_stores_nothing(client: StudioClient, database_url: str) -> None:
    """Neither a 422 nor a server error is stored: the retry books."""
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_, member)
    assert (await client.book(class_["id"], "nobody", key=key)).status == 422
    db = await open_database(database_url, "bookings", size=1, kind=FaultyDatabase)
    assert isinstance(db, FaultyDatabase)
    db.fatal, db.fail = Stage.WRITTEN, raise_error
    broken: Bookings = msgspec.structs.replace(client.service, db=db)
    assert (await StudioClient(broken, client.caller).book(class_["id"], member["id"], key=key)).status == 500
    await db.close()
    retry = await client.book(class_["id"], member["id"], key=key)
    assert (retry.status, retry.replayed) == (201, False)
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1
