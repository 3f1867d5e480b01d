"""The progress of a recovery can be read by its id."""

from typing import Any

from services.webhooks.actions.recover import BATCH, MAX_OPEN
from shared.wire import new_id
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.desk import ALL_READS, Desk, Reply, eventually, open_desk

LONG_AGO = "2020-01-01T00:00:00Z"


async def begun(desk: Desk, endpoint_id: str) -> dict[str, Any]:
    reply = await desk.call("POST", f"/webhook-endpoints/{endpoint_id}/recover", {"since": LONG_AGO})
    assert reply.status == 202, reply.body
    recovery: dict[str, Any] = reply.json()
    return recovery


def place(recovery: dict[str, Any]) -> str:
    return f"/webhook-endpoints/{recovery['endpoint_id']}/recoveries/{recovery['id']}"


async def until(desk: Desk, recovery: dict[str, Any], **facts: object) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        shown: dict[str, Any] = (await desk.call("GET", place(recovery))).json()
        return shown if facts.items() <= shown.items() else None

    return await eventually(look)


async def test_it_tells_how_far_it_has_come_and_when_it_is_done(
    database_url: str, receiver: Receiver
) -> None:
    """`offered` grows while it runs. It waits while many deliveries are open and ends as `done`."""
    receiver.answer = answering(500)
    missed = MAX_OPEN + 2 * BATCH
    async with open_desk(database_url, webhook_retry_schedule=(60.0,)) as desk:
        for _ in range(missed // 100):
            await desk.publish_some(100)
        recovery = await begun(desk, (await desk.endpoint(receiver.url))["id"])
        assert (recovery["status"], recovery["offered"]) == ("running", 0)
        batches = -(-MAX_OPEN // BATCH)
        halfway = await until(desk, recovery, status="running", offered=batches * BATCH)
        assert halfway == recovery | {"offered": batches * BATCH}, "nothing else of it changes"
        path = f"/webhook-endpoints/{recovery['endpoint_id']}/recover"
        again = await desk.call("POST", path, {"since": LONG_AGO})
        assert (again.status, again.code) == (409, "recovery_in_progress")
        assert again.json()["error"]["details"] == {"recovery_id": recovery["id"]}, "who lost the answer"

        receiver.answer = answering(200)
        await desk.sql("UPDATE lanes SET paused_until = NULL, due_at = now()")
        assert await until(desk, recovery, status="done") == recovery | {"status": "done", "offered": missed}


async def test_it_is_seen_by_its_client_and_operators_alone(desk: Desk, receiver: Receiver) -> None:
    """Those of another client, studio or endpoint are 404, like an unknown one."""
    endpoint, other = [await desk.endpoint(receiver.url) for _ in range(2)]
    recovery = await begun(desk, endpoint["id"])

    def refused(reply: Reply) -> bool:
        return (reply.status, reply.code) == (404, "not_found")

    assert refused(await desk.call("GET", place(recovery), caller=desk.caller(client_id=new_id())))
    assert refused(await desk.call("GET", place(recovery), caller=desk.caller(studio_id=new_id())))
    assert refused(await desk.call("GET", place(recovery), caller=desk.caller(location_ids=(new_id(),))))
    assert refused(await desk.call("GET", place(recovery | {"endpoint_id": other["id"]})))
    assert refused(await desk.call("GET", place(recovery | {"id": new_id()})))
    narrow = desk.caller(scopes=ALL_READS - {"bookings:read"})
    assert (await desk.call("GET", place(recovery), caller=narrow)).code == "insufficient_scope"
    seen = await desk.call("GET", f"/staff{place(recovery)}", caller=desk.operator)
    assert seen.json()["id"] == recovery["id"]
    assert refused(await desk.call("GET", f"/staff{place(recovery)}")), "the operators' way is theirs alone"
