"""One effect per key, byte-for-byte replays, and never another client's answer."""

from datetime import timedelta

from shared.http.idempotency.stored_responses import prune
from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient


async def test_not_found_is_stored_too(client: StudioClient) -> None:
    """A 404 is replayed even after the member exists, and the key is shown as `refused`.

    A 422 is not stored. A field with its default value makes no other request.
    """
    class_, member, key = a_class(), a_member(), new_id()
    await client.import_all(class_)
    assert (await client.book(class_["id"], "nobody", key=key)).status == 422
    first = await client.book(class_["id"], member["id"], key=key)
    await client.import_all(member)
    second = await client.book(class_["id"], member["id"], key=key, join_waitlist=False)
    assert (first.status, second.status, second.body) == (404, 404, first.body)
    assert (first.replayed, second.replayed) == (False, True)
    state = (await client.key_state(key)).json
    assert (state["status"], state["http_status"], state["resource_id"]) == ("refused", 404, None)


async def test_the_location_is_checked_again_before_a_replay(client: StudioClient) -> None:
    """A narrower key of the same client gets 404, and the response stays for those who may see it.

    That it may not see a class is a refusal like any other: stored, and replayed.
    """
    here, there = new_id(), new_id()
    (class_, (member,)), key = await client.open_class(location_id=here), new_id()
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
    (class_, people), key = await client.open_class(people=2, capacity=5), new_id()
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
