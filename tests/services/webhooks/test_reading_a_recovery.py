"""The progress of a recovery can be read by its id."""

from typing import Any

from services.webhooks.actions.recover import BATCH, MAX_OPEN
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.studio_client import ALL_READS, Reply, StudioClient, open_studio_client

LONG_AGO = "2020-01-01T00:00:00Z"


async def begun(client: StudioClient, endpoint_id: str) -> dict[str, Any]:
    reply = await client.call("POST", f"/webhook-endpoints/{endpoint_id}/recover", {"since": LONG_AGO})
    assert reply.status == 202, reply.body
    recovery: dict[str, Any] = reply.json()
    return recovery


def place(recovery: dict[str, Any]) -> str:
    return f"/webhook-endpoints/{recovery['endpoint_id']}/recoveries/{recovery['id']}"


async def until(client: StudioClient, recovery: dict[str, Any], **facts: object) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        shown: dict[str, Any] = (await client.call("GET", place(recovery))).json()
        return shown if facts.items() <= shown.items() else None

    return await eventually(look)


async def test_it_shows_its_progress_and_when_it_is_done(database_url: str, receiver: Receiver) -> None:
    """`offered` grows while it runs. It waits while many deliveries are open and ends as `done`."""
    receiver.answer = answering(500)
    missed = MAX_OPEN + 2 * BATCH
    async with open_studio_client(database_url, webhook_retry_schedule=(60.0,)) as client:
        for _ in range(missed // 100):
            await client.publish_some(100)
        recovery = await begun(client, (await client.endpoint(receiver.url))["id"])
        assert (recovery["status"], recovery["offered"]) == ("running", 0)
        batches = -(-MAX_OPEN // BATCH)
        halfway = await until(client, recovery, status="running", offered=batches * BATCH)
        assert halfway == recovery | {"offered": batches * BATCH}, "nothing else of it changes"
        path = f"/webhook-endpoints/{recovery['endpoint_id']}/recover"
        again = await client.call("POST", path, {"since": LONG_AGO})
        assert (again.status, again.code) == (409, "recovery_in_progress")
        assert again.json()["error"]["details"] == {"recovery_id": recovery["id"]}, "who lost the answer"

        receiver.answer = answering(200)

        async def done() -> dict[str, Any] | None:
            # Each time: a last refused attempt that ends only now pauses the lane again.
            await client.sql("UPDATE lanes SET paused_until = NULL, due_at = now()")
            shown: dict[str, Any] = (await client.call("GET", place(recovery))).json()
            return shown if shown["status"] == "done" else None

        assert await eventually(done) == recovery | {"status": "done", "offered": missed}


async def test_it_is_seen_by_its_client_and_operators_alone(client: StudioClient, receiver: Receiver) -> None:
    """Those of another client, studio or endpoint are 404, like an unknown one."""
    endpoint, other = [await client.endpoint(receiver.url) for _ in range(2)]
    recovery = await begun(client, endpoint["id"])

    def refused(reply: Reply) -> bool:
        return (reply.status, reply.code) == (404, "not_found")

    assert refused(await client.call("GET", place(recovery), caller=client.caller(client_id=new_id())))
    assert refused(await client.call("GET", place(recovery), caller=client.caller(studio_id=new_id())))
    assert refused(await client.call("GET", place(recovery), caller=client.caller(location_ids=(new_id(),))))
    assert refused(await client.call("GET", place(recovery | {"endpoint_id": other["id"]})))
    assert refused(await client.call("GET", place(recovery | {"id": new_id()})))
    narrow = client.caller(scopes=ALL_READS - {"bookings:read"})
    assert (await client.call("GET", place(recovery), caller=narrow)).code == "insufficient_scope"
    seen = await client.call("GET", f"/staff{place(recovery)}", caller=client.operator)
    assert seen.json()["id"] == recovery["id"]
    assert refused(await client.call("GET", f"/staff{place(recovery)}")), "the operators' way is theirs alone"
