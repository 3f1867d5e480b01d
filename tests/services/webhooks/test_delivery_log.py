"""The delivery log: the newest first, the deliveries of an event, and one delivery with its headers."""

from aiohttp import web
from msgspec import structs

from services.webhooks.store.attempts import MAX_ATTEMPTS_KEPT
from shared.http.caller import Caller
from shared.wire import delivery_id, new_id
from tests.harness.receiver import Received, Receiver, answering
from tests.services.webhooks.studio_client import ALL_READS, StudioClient, statuses

HOOK = "http://127.0.0.1:9/"


async def test_the_newest_deliveries_come_first_if_asked_for(
    client: StudioClient, receiver: Receiver
) -> None:
    """Of an endpoint for partners, of a studio for operators; page by page."""
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(5)
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 5)
    for path, caller in (
        (f"/webhook-endpoints/{endpoint['id']}/deliveries", client.caller()),
        ("/staff/webhook-deliveries", client.operator),
    ):
        first = (await client.call("GET", path, caller=caller, order="desc", limit=3)).json()
        assert [one["sequence"] for one in first["data"]] == [5, 4, 3]
        cursor = first["next_cursor"]
        rest = (await client.call("GET", path, caller=caller, order="desc", limit=3, cursor=cursor)).json()
        assert [one["sequence"] for one in rest["data"]] == [2, 1] and not rest["has_more"]
        assert (await client.call("GET", path, caller=caller, order="up")).status == 422


async def test_the_deliveries_of_an_event(client: StudioClient) -> None:
    """To the client's own endpoints, as far as the key may use them.

    The other event is of the same moment, and its id begins like that of the first. An erasure finds the
    deliveries of all clients, by ids that are made from those of the event and the endpoint.
    """
    wide = client.caller(scopes=ALL_READS | {"forms:write"})
    one, two = await client.endpoint(HOOK), await client.endpoint(HOOK, caller=wide)
    third = await client.endpoint(HOOK, caller=client.caller(client_id=new_id()))
    made = client.event()
    await client.publish(made, structs.replace(made, id=made.id[:19] + new_id()[19:]))
    path, event = "/webhook-deliveries", made.id

    async def endpoints(caller: Caller) -> list[str]:
        page = (await client.call("GET", path, caller=caller, event_id=event)).json()
        assert {found["event_id"] for found in page["data"]} == {event}
        return sorted(found["endpoint_id"] for found in page["data"])

    assert await endpoints(wide) == sorted([one["id"], two["id"]])
    assert await endpoints(client.caller()) == [one["id"]]
    first = (await client.call("GET", path, caller=wide, event_id=event, limit=1)).json()
    rest = await client.call("GET", path, caller=wide, event_id=event, cursor=first["next_cursor"])
    assert len(rest.json()["data"]) == 1 and not rest.json()["has_more"]
    # The cursor is of one of the two endpoints, and each of these keys may use at most the other.
    of_two = "SELECT id::text FROM deliveries WHERE endpoint_id = $1 AND event_id = $2"
    [[hidden]] = await client.sql(of_two, two["id"], event)
    for caller in (client.caller(), client.caller(client_id=new_id())):
        refused = await client.call("GET", path, caller=caller, event_id=event, cursor=hidden)
        assert (refused.status, refused.code) == (400, "invalid_cursor")
    assert (await client.call("GET", path, event_id=new_id())).json()["data"] == []
    all_of_it = "SELECT deliveries_of($1, $2, $3) AS id"
    ids = {row["id"] for row in await client.sql(all_of_it, client.studio_id, event, made.created_at)}
    assert ids == {delivery_id(event, endpoint["id"]) for endpoint in (one, two, third)}
    assert (await client.call("GET", path)).status == 422


async def test_a_delivery_tells_what_was_sent_and_answered(client: StudioClient, receiver: Receiver) -> None:
    """The headers that sign each attempt, and the first ones of the response, without their ends.

    Of its body the first 2 KiB, as text that the database accepts.
    """

    async def answer(got: Received) -> web.StreamResponse:
        headers = {"X-Trace": "abc", "X-Long": "y" * 500}
        return web.Response(status=202, headers=headers, body=b"\x00\xff" + b"x" * 300_000)

    receiver.response = answer
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"])
    [listed] = await client.deliveries(endpoint["id"])
    assert "request_headers" not in listed["attempts"][0]
    path = f"/webhook-deliveries/{listed['id']}"
    [attempt] = (await client.call("GET", path)).json()["attempts"]
    [got] = receiver.received
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    assert attempt["request_headers"] == {name: got.headers[name] for name in names}
    assert attempt["response_headers"]["x-trace"] == "abc"
    assert attempt["response_headers"]["x-long"] == "y" * 100
    assert attempt["response_status"] == 202
    assert attempt["response_body"].startswith("\ufffd\ufffdxx")
    assert len(attempt["response_body"].encode()) == 2048, "cut after decoding, which makes it longer"
    stranger = client.caller(client_id=new_id())
    assert (await client.call("GET", path, caller=stranger)).status == 404
    narrow = client.caller(scopes=ALL_READS - {"leads:read"})
    assert (await client.call("GET", path, caller=narrow)).status == 403


async def test_a_delivery_keeps_its_newest_attempts(client: StudioClient, receiver: Receiver) -> None:
    """A delivery may be retried by hand for ever; its log does not grow with the retries."""
    receiver.response = answering(500)
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    [delivery] = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["dead"])
    await client.sql(
        """UPDATE deliveries SET attempt_count = 50, attempts = (
               SELECT jsonb_agg(jsonb_set(attempts -> 0, '{duration_ms}', to_jsonb(n)))
               FROM generate_series(1, 50) n) RETURNING id"""
    )
    assert (await client.call("POST", f"/webhook-deliveries/{delivery['id']}/retry")).status == 202
    [delivery] = await client.until_deliveries(
        endpoint["id"], lambda ds: statuses(ds) == ["dead"] and ds[0]["attempt_count"] > 50
    )
    kept = delivery["attempts"]
    new = delivery["attempt_count"] - 50
    assert len(kept) == MAX_ATTEMPTS_KEPT
    assert [attempt["duration_ms"] for attempt in kept[:-new]] == list(range(51 - len(kept) + new, 51))
