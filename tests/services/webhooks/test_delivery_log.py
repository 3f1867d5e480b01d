"""The delivery log: the newest first, the deliveries of an event, and one delivery with its headers."""

from aiohttp import web
from msgspec import structs

from shared.http.caller import Caller
from shared.wire import delivery_id, new_id
from tests.harness.receiver import Received, Receiver
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
    """To the client's own endpoints, as far as the key may use them."""
    wide = client.caller(scopes=ALL_READS | {"forms:write"})
    one, two = await client.endpoint(HOOK), await client.endpoint(HOOK, caller=wide)
    await client.endpoint(HOOK, caller=client.caller(client_id=new_id()))
    event, _ = await client.publish_some(2)
    path = "/webhook-deliveries"

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
    assert (await client.call("GET", path)).status == 422


async def test_an_event_and_an_endpoint_have_one_delivery(client: StudioClient) -> None:
    """Its id is made from theirs, so that the primary key allows no second one, and finds all of an event.

    The control is an event whose id begins like the first one's, of the same moment.
    """
    endpoints = [(await client.endpoint(HOOK))["id"] for _ in range(3)]
    event = client.event()
    like_it = structs.replace(event, id=event.id[:19] + new_id()[19:])
    await client.publish(event, like_it)
    rows = await client.sql("SELECT id, event_id, endpoint_id FROM deliveries")
    assert len({row["id"] for row in rows}) == 6
    for row in rows:
        assert row["id"] == delivery_id(row["event_id"], row["endpoint_id"])
        assert row["id"][:19] == event.id[:19]
    found = "SELECT deliveries_of($1, $2, $3) AS id"
    ids = await client.sql(found, client.studio_id, event.id, event.created_at)
    expected = {delivery_id(event.id, endpoint_id) for endpoint_id in endpoints}
    assert len(ids) == 3 and {row["id"] for row in ids} == expected


async def test_a_delivery_tells_what_was_sent_and_answered(client: StudioClient, receiver: Receiver) -> None:
    """The headers that sign each attempt, and the first ones of the response, without their ends."""

    async def answer(got: Received) -> web.StreamResponse:
        return web.Response(status=202, headers={"X-Trace": "abc", "X-Long": "y" * 500})

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
    stranger = client.caller(client_id=new_id())
    assert (await client.call("GET", path, caller=stranger)).status == 404
    narrow = client.caller(scopes=ALL_READS - {"leads:read"})
    assert (await client.call("GET", path, caller=narrow)).status == 403
