"""One effect per key, byte-for-byte replays, and never another client's answer."""

import asyncio
from datetime import timedelta

import msgspec

from services.bookings.actions.due_work import prune_idempotency_keys
from services.bookings.context import Bookings
from shared.wire import new_id
from tests.services.bookings.fault_injection import FaultyDatabase, Stage, raise_error
from tests.services.bookings.import_samples import a_class, a_member
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
    """A 404 is replayed even after the member exists."""
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_)
    first = await client.book(class_["id"], member["id"], key=key)
    await client.import_all(member)
    second = await client.book(class_["id"], member["id"], key=key)
    assert (first.status, second.status, second.body) == (404, 404, first.body)


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


async def test_two_keys_of_one_client_share_and_two_clients_do_not(client: StudioClient) -> None:
    """A retry survives a key rotation; another client's same text is another key."""
    class_, people, key = a_class(capacity=5), [a_member() for _ in range(2)], new_id()
    await client.import_all(class_, *people)
    rotated, stranger = client.with_key(), client.with_key(client_id=new_id())
    first = await client.book(class_["id"], people[0]["id"], key=key)
    again = await rotated.book(class_["id"], people[0]["id"], key=key)
    assert (again.replayed, again.body) == (True, first.body)
    theirs = await stranger.book(class_["id"], people[1]["id"], key=key)
    assert (theirs.status, theirs.replayed) == (201, False)
    assert (await client.get_ok(f"/idempotency-keys/{key}"))["resource_id"] == first.json["id"]
    assert (await stranger.get_ok(f"/idempotency-keys/{key}"))["resource_id"] == theirs.json["id"]
    outsider = client.with_key(client_id=new_id())
    assert (await outsider.get(f"/idempotency-keys/{key}")).status == 404


async def test_the_location_is_checked_again_before_a_replay(client: StudioClient) -> None:
    """A narrower key of the same client gets 404, and the response stays for those who may see it."""
    here, there = new_id(), new_id()
    class_, member, key = a_class(location_id=here), a_member(), new_id()
    await client.import_all(class_, member)
    first = await client.book(class_["id"], member["id"], key=key)
    narrow = client.with_key(locations=(there,))
    assert (await narrow.book(class_["id"], member["id"], key=key)).status == 404
    assert (await narrow.get(f"/idempotency-keys/{key}")).status == 404
    assert (
        await client.with_key(locations=(here,)).book(class_["id"], member["id"], key=key)
    ).body == first.body


async def test_a_class_that_the_key_may_not_see_is_the_same_404_again(client: StudioClient) -> None:
    """The refusal reveals nothing about the class, so it is stored and replayed like any other."""
    class_, member, key = a_class(location_id=new_id()), a_member(), new_id()
    await client.import_all(class_, member)
    narrow = client.with_key(locations=(new_id(),))
    first = await narrow.book(class_["id"], member["id"], key=key)
    again = await narrow.book(class_["id"], member["id"], key=key)
    assert (first.status, again.status, again.body, again.replayed) == (404, 404, first.body, True)


async def test_a_request_in_progress_is_waited_for_and_reported(client: StudioClient) -> None:
    """While the first runs its key is `in_progress`; a copy gets its response, or 409 after two seconds."""
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_, member)
    assert (await client.get(f"/idempotency-keys/{key}")).status == 404
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, class_["id"])
        first = asyncio.create_task(client.book(class_["id"], member["id"], key=key))
        while (state := await client.get(f"/idempotency-keys/{key}")).status == 404:
            await asyncio.sleep(0.01)
        assert state.json["status"] == "in_progress" and state.json["http_status"] is None
        late = await client.book(class_["id"], member["id"], key=key)
        assert (late.status, late.code) == (409, "idempotency_in_progress")
        assert late.headers[b"retry-after"] == b"1"
        copy = asyncio.create_task(client.book(class_["id"], member["id"], key=key))
        await asyncio.sleep(0.2)
    responses = await asyncio.gather(first, copy)
    assert responses[0].status == 201 and responses[0].body == responses[1].body and responses[1].replayed
    state = await client.get(f"/idempotency-keys/{key}")
    assert (state.json["status"], state.json["http_status"]) == ("succeeded", 201)


async def test_a_refused_key_says_so(client: StudioClient) -> None:
    """`refused` with the status that it was answered with."""
    class_, key = a_class(), new_id()
    await client.import_all(class_)
    await client.book(class_["id"], new_id(), key=key)
    state = await client.get_ok(f"/idempotency-keys/{key}")
    assert (state["status"], state["http_status"], state["resource_id"]) == ("refused", 404, None)


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
    assert await prune_idempotency_keys(client.service) is False
    assert (await client.book(class_["id"], people[0]["id"], key=key)).replayed
    await age(timedelta(minutes=2))
    assert (await client.get(f"/idempotency-keys/{key}")).status == 404
    fresh = await client.book(class_["id"], people[1]["id"], key=key)
    assert (fresh.status, fresh.replayed) == (201, False)
    await age(timedelta(hours=25))
    await prune_idempotency_keys(client.service)
    async with client.service.db.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM idempotency_keys") == 0


async def test_a_failed_request_stores_nothing(client: StudioClient) -> None:
    """Neither a 422 nor a server error is stored: the retry books."""
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_, member)
    assert (await client.book(class_["id"], "nobody", key=key)).status == 422

    db = FaultyDatabase(client.service.db.pool, "bookings")
    db.fatal, db.fail = Stage.WRITTEN, raise_error
    broken: Bookings = msgspec.structs.replace(client.service, db=db)
    assert (await StudioClient(broken, client.caller).book(class_["id"], member["id"], key=key)).status == 500
    retry = await client.book(class_["id"], member["id"], key=key)
    assert (retry.status, retry.replayed) == (201, False)
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1
