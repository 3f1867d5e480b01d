"""From a partner's write through the gateway to the signed webhook at a partner's server."""

import json
from typing import Any

from standardwebhooks import Webhook

from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.eventually import eventually
from tests.harness.http import Client, created
from tests.harness.receiver import Receiver, answering
from tests.harness.system import System


async def a_class(system: System) -> str:
    line = import_lines.class_()
    await system.import_lines([line])
    return str(line["id"])


async def a_member(partner: Client, first_name: str) -> str:
    body = {"email": f"{new_id()}@example.com", "first_name": first_name, "last_name": "Byron"}
    return str((await partner.create("/members", body))["id"])


async def book(partner: Client, class_id: str, member_id: str) -> dict[str, Any]:
    return created(await partner.book(class_id, member_id, join_waitlist=True))


async def an_endpoint(partner: Client, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    return await partner.create("/webhook-endpoints", {"url": receiver.url} | fields)


def kinds(receiver: Receiver) -> list[str]:
    return [json.loads(got.body)["type"] for got in receiver.received]


async def test_a_booking_a_waitlist_change_and_a_form_arrive_signed(
    system: System, partner: Client, receiver: Receiver
) -> None:
    """The partner's own library verifies each; the data is what the resource's GET shows."""
    endpoint = await an_endpoint(partner, receiver)
    class_id = await a_class(system)
    first, second = await a_member(partner, "Ada"), await a_member(partner, "Bea")
    booking = await book(partner, class_id, first)
    waiting = await book(partner, class_id, second)
    assert waiting["status"] == "waitlisted"
    fields = [{"key": "goal", "label": "Goal", "type": "text"}]
    form = await partner.create("/forms", {"title": "Intake", "status": "published", "fields": fields})
    submission = await partner.create(
        f"/forms/{form['id']}/submissions",
        {"submitter_email": "ada@example.com", "data": {"goal": "strength"}},
    )
    wanted = {"member.created": 2, "booking.created": 2, "waitlist.updated": 1, "form.submitted": 1}
    await receiver.until(lambda r: all(kinds(r).count(kind) >= n for kind, n in wanted.items()))
    events = {}
    for got in receiver.received:
        verified = Webhook(endpoint["secret"]).verify(got.body, got.headers)
        events[verified["type"], verified["resource"]["id"]] = verified
    created = events["booking.created", booking["id"]]
    assert created["data"]["object"] == (await partner.get(f"/bookings/{booking['id']}")).json()
    assert created["request_id"]
    thin = events["form.submitted", submission["id"]]["data"]["object"]
    assert thin == {"id": submission["id"], "object": "form_submission", "form_id": form["id"]}
    assert any(kind == "waitlist.updated" for kind, _ in events)
    sequences = sorted(got.sequence for got in receiver.received)
    assert sequences == list(range(1, len(sequences) + 1)), "the endpoint's own sequence has no gaps"


async def test_a_promotion_reaches_the_partner_in_order(system: System, receiver: Receiver) -> None:
    """Cancelling a booking promotes the first on the waitlist, and both events arrive."""
    partner = system.partner(await system.key())
    await an_endpoint(partner, receiver, fifo=True, event_types=["booking.cancelled", "booking.confirmed"])
    class_id = await a_class(system)
    first = await book(partner, class_id, await a_member(partner, "Ada"))
    second = await book(partner, class_id, await a_member(partner, "Bea"))
    reply = await partner.cancel(first["id"])
    assert reply.status == 200, reply.body
    await receiver.until_count(2)
    events = [json.loads(got.body) for got in receiver.received]
    assert {(e["type"], e["resource"]["id"]) for e in events} == {
        ("booking.cancelled", first["id"]),
        ("booking.confirmed", second["id"]),
    }
    assert [got.sequence for got in receiver.received] == [1, 2]


async def test_the_event_log_lets_a_partner_catch_up(partner: Client, receiver: Receiver) -> None:
    """The same events, the same bytes, in a sequence without gaps for a key that sees everything."""
    await an_endpoint(partner, receiver)
    for name in ("Ada", "Bea", "Cem"):
        await a_member(partner, name)
    await receiver.until_count(3)
    listed = (await partner.get("/events")).json()["data"]
    assert [e["sequence"] for e in listed] == [1, 2, 3]
    assert {json.loads(got.body)["id"] for got in receiver.received} == {e["id"] for e in listed}
    one = await partner.get(f"/events/{listed[1]['id']}")
    assert one.body in {got.body for got in receiver.received}
    assert [e["sequence"] for e in (await partner.get("/events", after_sequence=2)).json()["data"]] == [3]


async def test_scopes_and_clients_are_kept_apart_through_the_gateway(
    system: System, partner: Client, receiver: Receiver
) -> None:
    """Without webhooks:write 403; another client's endpoint is 404; a kind needs its read scope."""
    endpoint = await an_endpoint(partner, receiver)
    reader = system.partner(await system.key(["webhooks:read"]))
    assert (await reader.post("/webhook-endpoints", {"url": receiver.url})).status == 403
    stranger = system.partner(await system.key(client="another"))
    assert (await stranger.get(f"/webhook-endpoints/{endpoint['id']}")).status == 404
    narrow = system.partner(await system.key(["webhooks:write", "bookings:read"]))
    reply = await narrow.post("/webhook-endpoints", {"url": receiver.url, "event_types": ["lead.created"]})
    assert (reply.status, reply.code) == (403, "insufficient_scope")
    assert (await partner.post("/webhook-endpoints", {"url": "https://10.0.0.1/"})).status == 422


async def test_revoking_the_last_key_of_a_client_disables_its_endpoints(
    system: System, receiver: Receiver
) -> None:
    """Nothing changes while one key is live; after the last one is revoked, nothing more is sent."""
    first = await system.issue(client="crm")
    second = await system.issue(client="crm")
    endpoint = await an_endpoint(system.partner(first["key"]), receiver)
    other = system.partner(await system.key(client="other"))
    path = f"/studios/{system.studio_id}/webhook-endpoints"

    async def status() -> tuple[str, str | None]:
        listed = (await system.operator.get(path)).json()["data"]
        [found] = [e for e in listed if e["id"] == endpoint["id"]]
        return found["status"], found["disabled_reason"]

    assert (await system.operator.post(f"/keys/{first['id']}/revoke")).status in (200, 204)
    await a_member(other, "Ada")
    await receiver.until_count(1)
    assert await status() == ("enabled", None)
    assert (await system.operator.post(f"/keys/{second['id']}/revoke")).status in (200, 204)

    async def disabled() -> bool:
        return await status() == ("disabled", "client_revoked")

    assert await eventually(disabled)


async def test_operators_see_dead_deliveries_and_retry_them(system: System, receiver: Receiver) -> None:
    """Through the operators' API: listed by status, retried, and counted in the status."""
    receiver.response = answering(400)
    partner = system.partner(await system.key())
    endpoint = await an_endpoint(partner, receiver)
    await partner.post(f"/webhook-endpoints/{endpoint['id']}/test")
    path = f"/studios/{system.studio_id}/webhook-deliveries"

    async def deliveries(status: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await system.operator.get(path, status=status)).json()["data"]
        return found

    [delivery] = await eventually(lambda: deliveries("dead"))
    assert delivery["attempt_count"] == 6
    figures = (await system.operator.get("/status")).json()["services"]["webhooks"]
    assert "dead_deliveries" in json.dumps(figures)
    receiver.response = answering(200)
    reply = await system.operator.post(f"{path}/{delivery['id']}/retry")
    assert reply.status == 202, reply.body
    succeeded = await eventually(lambda: deliveries("succeeded"))
    assert [d["id"] for d in succeeded] == [delivery["id"]]
    queues = (await system.operator.get("/queues")).json()["data"]
    assert {q["name"] for q in queues} == {"webhooks.events", "forms.new-members"}
