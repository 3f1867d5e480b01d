"""Endpoints: ownership, visibility and secrets."""

import asyncio
import base64

from standardwebhooks import Webhook

from services.webhooks.actions.manage_endpoints import MAX_ENDPOINTS, MAX_LIVE_SECRETS
from services.webhooks.actions.prune import prune_step
from shared.events.event import Audience
from shared.events.kinds import FormUpdated
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import ALL_READS, StudioClient

HOOK = "https://partner.example/hook"


async def test_an_endpoint_is_created_read_changed_and_deleted(client: StudioClient) -> None:
    """Only the response to create contains the secret."""
    made = await client.endpoint(HOOK, description="CRM", event_types=["booking.created"])
    assert len(base64.b64decode(made["secret"].removeprefix("whsec_"))) == 32
    path = f"/webhook-endpoints/{made['id']}"
    shown = (await client.call("GET", path)).json()
    assert shown == {name: value for name, value in made.items() if name != "secret"}
    assert (shown["status"], shown["disabled_reason"]) == ("enabled", None)
    changed = (await client.call("PATCH", path, {"description": "Mail", "event_types": []})).json()
    assert (changed["description"], changed["event_types"], changed["url"]) == ("Mail", [], HOOK)
    assert [e["id"] for e in (await client.call("GET", "/webhook-endpoints")).json()["data"]] == [made["id"]]
    assert (await client.call("DELETE", path)).status == 204
    assert (await client.call("GET", path)).status == 404
    assert (await client.call("DELETE", path)).status == 404
    assert (await client.call("GET", "/webhook-endpoints")).json()["data"] == []


async def test_a_kind_needs_its_read_scope(client: StudioClient) -> None:
    """403 names the missing scope. Unknown kinds and fields are 422."""
    narrow = client.caller(scopes=frozenset({"webhooks:write", "bookings:read"}))
    body = {"url": HOOK, "event_types": ["booking.created", "lead.created"]}
    reply = await client.call("POST", "/webhook-endpoints", body, caller=narrow)
    assert (reply.status, reply.code) == (403, "insufficient_scope")
    assert reply.json()["error"]["details"]["required_scope"] == "leads:read"
    for wrong in ({"url": HOOK, "event_types": ["nope"]}, {"url": HOOK, "colour": "red"}, {}):
        assert (await client.call("POST", "/webhook-endpoints", wrong)).status == 422
    made = await client.endpoint(HOOK, caller=narrow, event_types=["booking.created"])
    reply = await client.call(
        "PATCH", f"/webhook-endpoints/{made['id']}", {"event_types": ["lead.created"]}, caller=narrow
    )
    assert (reply.status, reply.code) == (403, "insufficient_scope")


async def test_a_narrower_key_of_the_same_client_cannot_use_a_wider_endpoint(client: StudioClient) -> None:
    """It could learn from webhooks or the delivery log what it may not read. Nor may it change it.

    Drafts are shown to keys with `forms:write` only, so that scope counts like a read scope.
    """
    forms = ALL_READS | {"forms:read"}
    maker = client.caller(scopes=forms | {"forms:write", "bookings:write"})
    made = await client.endpoint(HOOK, caller=maker)
    await client.publish(client.event(FormUpdated, audience=Audience.FORM_WRITERS))
    path = f"/webhook-endpoints/{made['id']}"
    [delivery] = (await client.call("GET", f"{path}/deliveries", caller=maker)).json()["data"]
    since = {"since": "2026-01-01T00:00:00Z"}
    recovery = (await client.call("POST", f"{path}/recover", since, caller=maker)).json()["id"]
    calls: list[tuple[str, str, dict[str, str] | None]] = [
        ("PATCH", path, {"url": "https://other.example/"}),
        ("POST", f"{path}/rotate-secret", None),
        ("POST", f"{path}/test", None),
        ("POST", f"{path}/recover", since),
        ("GET", f"{path}/recoveries/{recovery}", None),
        ("GET", f"{path}/deliveries", None),
        ("POST", f"/webhook-deliveries/{delivery['id']}/retry", None),
        ("DELETE", path, None),
    ]
    for missing in ("bookings:read", "forms:write"):
        less = client.caller(scopes=maker.scopes - {missing})
        for method, target, body in calls:
            reply = await client.call(method, target, body, caller=less)
            assert (reply.status, reply.code) == (403, "insufficient_scope"), (method, target, missing)
            assert reply.json()["error"]["details"]["required_scope"] == missing
    elsewhere = client.caller(scopes=maker.scopes, location_ids=(new_id(),))
    for method, target, body in calls:
        reply = await client.call(method, target, body, caller=elsewhere)
        assert (reply.status, reply.code) == (404, "not_found"), (method, target)
    assert (await client.call("GET", path)).json()["status"] == "enabled"
    enough = client.caller(scopes=maker.scopes - {"bookings:write"})
    changed = await client.call("PATCH", path, {"description": "mine"}, caller=enough)
    assert changed.status == 200, "a scope that shows no event is not needed"


async def test_a_narrower_key_cannot_repeat_what_it_may_not_do(client: StudioClient) -> None:
    """Also once the endpoint and the delivery are deleted. The key that did it gets its response again."""
    maker = client.caller(scopes=ALL_READS | {"forms:write"})
    made = await client.endpoint(HOOK, caller=maker)
    path = f"/webhook-endpoints/{made['id']}"
    for method, target in (("POST", f"{path}/test"), ("POST", f"{path}/rotate-secret"), ("DELETE", path)):
        key = new_id()
        first = await client.call(method, target, caller=maker, key=key)
        for narrow, status in (
            (client.caller(scopes=ALL_READS), 403),
            (client.caller(scopes=maker.scopes, location_ids=(new_id(),)), 404),
            (maker, first.status),
        ):
            assert (await client.call(method, target, caller=narrow, key=key)).status == status, target
    other = await client.endpoint(HOOK, caller=maker)
    [event] = await client.publish_some(1)
    [sent] = (await client.call("GET", "/webhook-deliveries", caller=maker, event_id=event)).json()["data"]
    retry, key = f"/webhook-deliveries/{sent['id']}/retry", new_id()
    first = await client.call("POST", retry, caller=maker, key=key)
    await client.call("DELETE", f"/webhook-endpoints/{other['id']}", caller=maker)
    await client.sql("DELETE FROM deliveries")
    elsewhere = client.caller(scopes=maker.scopes, location_ids=(new_id(),))
    assert (await client.call("POST", retry, caller=elsewhere, key=key)).status == 404
    assert (await client.call("POST", retry, caller=maker, key=key)).body == first.body
    wanted = {"url": HOOK, "event_types": ["booking.created"]}
    less, key = client.caller(scopes=ALL_READS - {"bookings:read"}), new_id()
    assert (await client.call("POST", "/webhook-endpoints", wanted, key=key)).status == 201
    assert (await client.call("POST", "/webhook-endpoints", wanted, caller=less, key=key)).status == 403


async def test_secrets_sign_while_a_rotation_overlaps(client: StudioClient, receiver: Receiver) -> None:
    """All verify until the overlap ends, but however often it is rotated, only the newest few sign.

    With an overlap of zero only the new one does. Neither a secret's text nor its bytes are stored.
    """
    made = await client.endpoint(receiver.url)
    path, secrets = f"/webhook-endpoints/{made['id']}/rotate-secret", [made["secret"]]
    for count, times, live in ((1, 1, 2), (2, MAX_LIVE_SECRETS + 2, MAX_LIVE_SECRETS)):
        secrets += [(await client.call("POST", path)).json()["secret"] for _ in range(times)]
        await client.publish_some(1)
        got = (await receiver.until_count(count))[-1]
        assert len(got.headers["webhook-signature"].split(" ")) == live
        for secret in secrets[-live:]:
            Webhook(secret).verify(got.body, got.headers)
    stored = [row["sealed"] for row in await client.sql("SELECT sealed FROM secrets")]
    assert len(stored) == MAX_LIVE_SECRETS and len(set(secrets)) == len(secrets)
    for secret in secrets:
        raw = base64.b64decode(secret.removeprefix("whsec_"))
        assert all(secret.encode() not in sealed and raw not in sealed for sealed in stored)
    last = (await client.call("POST", path, {"overlap_seconds": 0})).json()
    await client.publish_some(1)
    got = (await receiver.until_count(3))[-1]
    assert len(got.headers["webhook-signature"].split(" ")) == 1
    Webhook(last["secret"]).verify(got.body, got.headers)


async def test_a_default_that_is_spelled_out_makes_no_other_request(client: StudioClient) -> None:
    made, key = await client.endpoint(HOOK), new_id()
    path = f"/webhook-endpoints/{made['id']}/rotate-secret"
    first = await client.call("POST", path, key=key)
    for body in (None, {}, {"overlap_seconds": 86400}):
        again = await client.call("POST", path, body, key=key)
        assert again.json() == first.json() | {"secret": None}
    assert (await client.call("POST", path, {"overlap_seconds": 1}, key=key)).status == 409


async def test_the_last_key_of_a_client_disables_its_endpoints(client: StudioClient) -> None:
    """The gateway reports it. The client's other studio is untouched, and enabling again works."""
    made = await client.endpoint(HOOK)
    other = await client.endpoint(HOOK, caller=client.caller(client_id=new_id()))
    body = {"studio_id": client.studio_id, "client_id": client.client_id}
    reply = await client.call("POST", "/internal/clients/revoked", body, caller=client.operator)
    assert (reply.status, reply.json()) == (200, {"count": 1})
    path = f"/webhook-endpoints/{made['id']}"
    shown = (await client.call("GET", path)).json()
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "client_revoked")
    listed = (await client.call("GET", "/staff/webhook-endpoints", caller=client.operator)).json()["data"]
    assert {e["id"]: e["status"] for e in listed} == {made["id"]: "disabled", other["id"]: "enabled"}
    assert (await client.call("POST", f"{path}/test")).code == "endpoint_disabled"
    enabled = (await client.call("PATCH", path, {"status": "enabled"})).json()
    assert (enabled["status"], enabled["disabled_reason"]) == ("enabled", None)
    assert (await client.call("POST", "/internal/clients/revoked", body)).status == 404, "not for partners"


async def test_the_endpoints_of_a_leaked_key_are_found_and_disabled(client: StudioClient) -> None:
    """Those that it created, and those whose URL it set, in its studio only."""
    leaked, other = new_id(), new_id()
    by_leaked, by_other = client.caller(key_id=leaked), client.caller(key_id=other)
    made = await client.endpoint(HOOK, caller=by_leaked)
    kept = await client.endpoint(HOOK, caller=by_other)
    moved = await client.endpoint(HOOK, caller=by_other)
    assert (made["key_id"], kept["key_id"]) == (leaked, other)
    path = f"/webhook-endpoints/{moved['id']}"
    assert (await client.call("PATCH", path, {"url": f"{HOOK}/2"}, caller=by_leaked)).status == 200
    renamed = f"/webhook-endpoints/{kept['id']}"
    assert (await client.call("PATCH", renamed, {"description": "x"}, caller=by_leaked)).status == 200
    body = {"studio_id": client.studio_id, "key_id": leaked}
    reply = await client.call("POST", "/internal/keys/revoked", body, caller=client.operator)
    assert (reply.status, reply.json()) == (200, {"count": 2})
    listed = (await client.call("GET", "/webhook-endpoints")).json()["data"]
    assert {e["id"]: e["disabled_reason"] for e in listed} == {
        made["id"]: "key_revoked",
        kept["id"]: None,
        moved["id"]: "key_revoked",
    }
    assert (await client.call("POST", "/internal/keys/revoked", body)).status == 404, "not for partners"


async def test_the_limit_of_endpoints_holds_when_many_are_created_at_once(client: StudioClient) -> None:
    """A count without a lock let 203 of 200 through."""
    await client.sql(
        """INSERT INTO endpoints (studio_id, id, client_id, url, scopes)
           SELECT $1, gen_random_uuid(), $2, $3, '{}' FROM generate_series(1, $4) RETURNING id""",
        client.studio_id,
        client.client_id,
        HOOK,
        MAX_ENDPOINTS - 3,
    )
    replies = await asyncio.gather(
        *(client.call("POST", "/webhook-endpoints", {"url": HOOK}) for _ in range(12))
    )
    assert sorted(reply.status for reply in replies) == [201] * 3 + [409] * 9
    assert {reply.code for reply in replies if reply.status == 409} == {"too_many_endpoints"}
    assert len(await client.sql("SELECT 1 FROM endpoints")) == MAX_ENDPOINTS
    other = client.caller(client_id=new_id())
    assert (await client.call("POST", "/webhook-endpoints", {"url": HOOK}, caller=other)).status == 201


async def test_the_list_is_paged_by_creation(client: StudioClient) -> None:
    """The cursor is the id of the last row. An unknown one is refused."""
    made = [(await client.endpoint(HOOK))["id"] for _ in range(5)]
    first = (await client.call("GET", "/webhook-endpoints", limit=3)).json()
    assert [e["id"] for e in first["data"]] == made[:3]
    assert (first["has_more"], first["next_cursor"]) == (True, made[2])
    rest = (await client.call("GET", "/webhook-endpoints", limit=3, cursor=first["next_cursor"])).json()
    assert [e["id"] for e in rest["data"]] == made[3:]
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)
    assert (await client.call("GET", "/webhook-endpoints", cursor=new_id())).code == "invalid_cursor"


async def test_a_deleted_endpoint_takes_its_deliveries_with_it_later(
    client: StudioClient, receiver: Receiver
) -> None:
    """Partners no longer see it, and it is pruned in batches."""
    made = await client.endpoint(receiver.url)
    await client.publish_some(5)
    await receiver.until_count(5)
    await client.call("DELETE", f"/webhook-endpoints/{made['id']}")
    await client.sql("UPDATE endpoints SET deleted_at = now() - interval '26 hours'")

    async def pruned() -> bool:
        await prune_step(client.context)
        return not await client.sql("SELECT id FROM deliveries UNION ALL SELECT id FROM endpoints")

    assert await eventually(pruned)
