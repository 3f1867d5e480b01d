"""How an endpoint is doing: the word, attempts by the hour, what waits, and what a recovery would send."""

import time
from datetime import timedelta
from typing import Any

from services.webhooks.actions import recover
from services.webhooks.store import health
from shared.percentiles import BOUNDS, bucket_of, p95
from shared.wire import new_id, now
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.studio_client import ALL_READS, StudioClient, hold_lanes
from tests.services.webhooks.test_recovery import LONG_AGO, set_status

Row = dict[str, Any]


async def health_of(client: StudioClient, endpoint_id: str) -> Row:
    reply = await client.call("GET", "/webhook-health", endpoint_id=endpoint_id)
    assert reply.status == 200, reply.body
    [row] = reply.json()["data"]
    return dict(row)


async def until_health(client: StudioClient, endpoint_id: str, **wanted: Any) -> Row:
    async def look() -> Row | None:
        row = await health_of(client, endpoint_id)
        return row if {name: row[name] for name in wanted} == wanted else None

    return await eventually(look)


async def test_an_endpoint_that_fails_is_named_and_says_why(client: StudioClient, receiver: Receiver) -> None:
    """From the second failure on, for its client, for staff and in the status; a success ends it."""
    receiver.response = answering(500)
    endpoint = await client.endpoint(receiver.url, description="legacy CRM")
    assert (await health_of(client, endpoint["id"]))["health"] == "idle"
    began = time.monotonic()
    await client.publish_some(1)
    row = await until_health(client, endpoint["id"], health="failing")
    assert time.monotonic() - began < 10
    assert row["last_error"]["response_status"] == 500
    assert row["last_error"]["error"] == "the endpoint responded with 500"
    assert (row["failing_since"] is not None, row["description"]) == (True, "legacy CRM")
    status = (await client.call("GET", "/internal/status", caller=client.operator)).json()
    assert [one["id"] for one in status["failing_endpoints"]] == [endpoint["id"]]
    for_staff = (await client.call("GET", "/staff/webhook-health", caller=client.operator)).json()["data"]
    assert [one["health"] for one in for_staff] == ["failing"]
    receiver.response = answering(204)
    [delivery] = await client.deliveries(endpoint["id"])
    await client.call("POST", f"/webhook-deliveries/{delivery['id']}/retry")
    await until_health(client, endpoint["id"], failing_since=None, pending=0)
    # One of the schedule may have been made before the one by hand.
    [delivery] = await client.deliveries(endpoint["id"])
    succeeded = sum(attempt["response_status"] == 204 for attempt in delivery["attempts"])
    row = await until_health(client, endpoint["id"], succeeded=succeeded)
    assert (row["last_error"], row["breaker"]) == (None, "closed")
    assert (row["hours"][-1]["succeeded"], len(row["hours"])) == (succeeded, 24)
    assert row["failed"] == sum(hour["failed"] for hour in row["hours"]) >= 2
    assert row["health"] == "degraded", "half of the last attempts have failed"
    status = (await client.call("GET", "/internal/status", caller=client.operator)).json()
    assert status["failing_endpoints"] == []


async def test_a_healthy_endpoint_has_its_percentile_and_its_bars(
    client: StudioClient, receiver: Receiver
) -> None:
    """Attempts are added up within seconds."""
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(30)
    row = await until_health(client, endpoint["id"], succeeded=30)
    assert (row["health"], row["failed"], row["pending"], row["dead"]) == ("healthy", 0, 0, 0)
    assert row["p95_ms"] in BOUNDS
    await set_status(client, endpoint["id"], "disabled")
    assert (await health_of(client, endpoint["id"]))["health"] == "disabled"


async def test_an_open_breaker_tells_when_it_tries_again(client: StudioClient, receiver: Receiver) -> None:
    """With what waits for it, and since when."""
    endpoint = await client.endpoint(receiver.url)
    await hold_lanes(client)
    await client.publish_some(3)
    await client.sql(
        "UPDATE lanes SET failing_since = now() - interval '9 min', last_failed_at = now(), "
        "paused_until = now() + interval '4 min', due_at = now() + interval '4 min'"
    )
    row = await health_of(client, endpoint["id"])
    assert (row["health"], row["breaker"], row["pending"]) == ("failing", "open", 3)
    assert row["next_attempt_at"] > now().isoformat()
    assert row["oldest_pending_at"] is not None


async def test_health_is_a_clients_own_and_pages(client: StudioClient) -> None:
    """Another client's endpoints are not listed, nor is a deleted one."""
    made = [await client.endpoint(f"https://partner.example/{number}") for number in range(3)]
    await client.call("DELETE", f"/webhook-endpoints/{made[1]['id']}")
    first = (await client.call("GET", "/webhook-health", limit=1)).json()
    rest = (await client.call("GET", "/webhook-health", limit=1, cursor=first["next_cursor"])).json()
    assert [row["id"] for row in first["data"] + rest["data"]] == [made[0]["id"], made[2]["id"]]
    other = client.caller(client_id=new_id())
    assert (await client.call("GET", "/webhook-health", caller=other)).json()["data"] == []


async def test_counts_are_forgotten_after_a_day_and_with_their_endpoint(client: StudioClient) -> None:
    """Counts of an endpoint that is gone are left out."""
    endpoint = await client.endpoint("https://partner.example/hook")
    old, new = (int((now() - timedelta(hours=hours)).timestamp()) // 3600 * 3600 for hours in (30, 1))
    async with client.context.db.connection() as conn:
        await health.add(conn, {(endpoint["id"], old, 0): [1, 0], (new_id(), new, 0): [1, 0]})
        await health.add(conn, {(endpoint["id"], new, 3): [2, 1]})
        await health.add(conn, {(endpoint["id"], new, 3): [2, 1]})
    [row] = await client.sql("SELECT bucket, succeeded, failed FROM attempt_hours")
    assert tuple(row) == (3, 4, 2)


def test_the_percentile_is_the_end_of_its_bucket() -> None:
    """Of nothing there is none."""
    assert p95({}) is None
    assert p95({0: 95, 5: 5}) == BOUNDS[0]
    assert p95({0: 94, 5: 6}) == BOUNDS[5]
    assert p95({len(BOUNDS): 1}) == BOUNDS[-1]
    for bucket, bound in enumerate(BOUNDS):
        assert (bucket_of(bound - 0.1), bucket_of(bound)) == (bucket, bucket + 1)


async def missed(client: StudioClient, endpoint_id: str, **query: Any) -> Row:
    reply = await client.call(
        "GET", f"/webhook-endpoints/{endpoint_id}/missed-events", **({"since": LONG_AGO} | query)
    )
    assert reply.status == 200, reply.body
    return dict(reply.json())


async def test_what_a_recovery_would_send_is_counted_before_it_starts(
    client: StudioClient, receiver: Receiver, monkeypatch: Any
) -> None:
    """The same number that it offers then; with a limit that it tells."""
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(2)
    await receiver.until_count(2)
    await set_status(client, endpoint["id"], "disabled")
    await client.publish_some(5)
    await set_status(client, endpoint["id"], "enabled")
    await until_health(client, endpoint["id"], pending=0)
    found = await missed(client, endpoint["id"])
    assert (found["count"], found["complete"]) == (5, True)
    assert (await missed(client, endpoint["id"], since=now().isoformat()))["count"] == 0
    monkeypatch.setattr(recover, "MAX_COUNTED", 5)
    assert await missed(client, endpoint["id"]) == {"object": "missed_events", "count": 2, "complete": False}
    fewer = client.caller(scopes=ALL_READS - {"bookings:read"})
    path = f"/webhook-endpoints/{endpoint['id']}/missed-events"
    assert (await client.call("GET", path, caller=fewer, since=LONG_AGO)).status == 403
    assert (await client.call("GET", path)).status == 422
    await client.call("POST", f"/webhook-endpoints/{endpoint['id']}/recover", {"since": LONG_AGO})
    await receiver.until_count(7)
