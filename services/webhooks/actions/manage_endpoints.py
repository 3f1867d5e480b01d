"""What partners and operators do with endpoints: create, change, delete, disable, rotate, test, retry."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import UNSET, structs

from services.webhooks.actions.log_events import Pairs, add_to_log, make_deliveries
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, TooManyEndpoints
from services.webhooks.rules.signing import new_secret
from services.webhooks.rules.urls import url_problem
from services.webhooks.rules.visibility import EVERYTHING, View, missing_scopes
from services.webhooks.store import deliveries, endpoints, event_log, lanes
from services.webhooks.store.endpoints import StoredEndpoint
from services.webhooks.store.event_log import StoredEvent
from services.webhooks.wire.endpoints import (
    Delivery,
    Endpoint,
    EndpointCreate,
    EndpointUpdate,
    EndpointWithSecret,
    with_secret,
)
from shared.db.database import Connection
from shared.errors import InsufficientScope, NotFound, Problem
from shared.events.envelope import read_envelope, render
from shared.events.event import Event, EventResource, Kind
from shared.events.kinds import WebhookEndpointDisabled, WebhookTest
from shared.http.caller import Caller
from shared.http.routes import PartialBody
from shared.wire import new_id, now


async def disable_endpoints(
    conn: Connection, studio_id: str, endpoint_ids: Sequence[str], reason: str, request_id: str = ""
) -> None:
    """Those that are enabled, in the caller's transaction, with an event to the client's other endpoints."""
    # Before the lanes, as whoever stores events does: the other order could deadlock.
    await event_log.lock_counters(conn, [studio_id])
    disabled = await endpoints.disable(conn, studio_id, endpoint_ids, reason)
    await add_disabled_events(conn, studio_id, disabled, request_id)


async def add_disabled_events(
    conn: Connection, studio_id: str, endpoint_ids: Sequence[str], request_id: str = ""
) -> None:
    """Call it under the lock of the studio's counter."""
    operator = Caller(studio_id=studio_id, actor="operator")
    for endpoint_id in endpoint_ids:
        stored = await endpoints.get(conn, operator, endpoint_id)
        assert stored is not None
        version = await lanes.version(conn, endpoint_id)
        event = await _log(conn, WebhookEndpointDisabled, studio_id, stored, version, request_id)
        await make_deliveries(conn, Pairs([event], await endpoints.subscribers(conn, [studio_id])))


async def _log(
    conn: Connection, kind: Kind, studio_id: str, stored: StoredEndpoint, version: int, request_id: str
) -> StoredEvent:
    """An event about an endpoint, which only its client sees."""
    event = Event(
        kind=kind,
        studio_id=studio_id,
        resource=EventResource("webhook_endpoint", stored.shown.id, version),
        data=stored.shown,
        request_id=request_id or None,
    )
    [logged] = await add_to_log(conn, [read_envelope(render(event))], client_id=stored.client_id)
    return logged


MAX_ENDPOINTS = 200


async def create_endpoint(service: Webhooks, caller: Caller, body: EndpointCreate) -> EndpointWithSecret:
    """It belongs to the client and keeps the scopes and locations of the creating key."""
    secret = new_secret()
    async with service.db.transaction() as conn:
        if await endpoints.count_for_insert(conn, caller) >= MAX_ENDPOINTS:
            raise TooManyEndpoints
        made = await endpoints.insert(conn, caller, new_id(), body)
        await endpoints.add_secret(conn, caller.studio_id, made.shown.id, service.cipher.encrypt(secret))
    return with_secret(made.shown, secret)


def require_scopes(event_types: Sequence[str], granted: frozenset[str]) -> None:
    for scope in missing_scopes(event_types, granted):
        raise InsufficientScope(scope, granted)


async def check_endpoint(service: Webhooks, caller: Caller, given: PartialBody) -> list[Problem]:
    """Problems of a body beyond its types. A missing scope is reported first."""
    if caller.actor != "operator":
        require_scopes(given.fields.get("event_types") or (), caller.scopes)
    url = given.fields.get("url", UNSET)
    problem = url_problem(url, service.urls) if url is not UNSET else None
    return [Problem(("body", "url"), problem, "url_not_allowed")] if problem else []


async def change_endpoint(
    service: Webhooks, caller: Caller, endpoint_id: str, body: EndpointUpdate
) -> Endpoint:
    async with service.db.transaction() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id, lock=True)
        changed = changed_by(stored, body)
        require_scopes(changed.event_types, stored.view.scopes)
        disables = changed.status == "disabled" and stored.shown.status == "enabled"
        if disables:
            await event_log.lock_counters(conn, [caller.studio_id])
        updated = await endpoints.update(conn, caller, changed)
        await lanes.changed(conn, endpoint_id)
        if changed.status == "enabled" and stored.shown.status == "disabled":
            await lanes.resume(conn, endpoint_id)
        if disables:
            await add_disabled_events(conn, caller.studio_id, [endpoint_id], caller.request_id)
    service.wakeup.notify()
    return updated.shown


def changed_by(stored: StoredEndpoint, body: EndpointUpdate) -> Endpoint:
    """Fields that are left out keep their value."""
    given = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not UNSET}
    if given.get("status") == "enabled":
        given["disabled_reason"] = None
    elif given.get("status") == "disabled" and stored.shown.status == "enabled":
        given["disabled_reason"] = "requested"
    return structs.replace(stored.shown, **given)


def refuse_wider_view(caller: Caller, view: View) -> None:
    """A key must not use an endpoint of its client that sees more than the key does.

    Every scope that shows events counts: `forms:write` shows drafts.
    """
    if caller.actor == "operator":
        return
    if caller.location_ids is not None and (
        view.location_ids is None or not view.location_ids <= set(caller.location_ids)
    ):
        raise NotFound
    for scope in sorted((view.scopes & EVERYTHING.scopes) - caller.scopes):
        raise InsufficientScope(scope, caller.scopes)


def may_use(caller: Caller, view: View) -> bool:
    try:
        refuse_wider_view(caller, view)
    except (NotFound, InsufficientScope):
        return False
    return True


async def get_endpoint(
    conn: Connection, caller: Caller, endpoint_id: str, *, lock: bool = False
) -> StoredEndpoint:
    stored = await endpoints.get(conn, caller, endpoint_id, lock=lock)
    if stored is None:
        raise NotFound
    return stored


async def use_endpoint(
    conn: Connection, caller: Caller, endpoint_id: str, *, lock: bool = False
) -> StoredEndpoint:
    """For everything except reading its settings: the key must see all that the endpoint sees."""
    stored = await get_endpoint(conn, caller, endpoint_id, lock=lock)
    refuse_wider_view(caller, stored.view)
    return stored


async def delete_endpoint(service: Webhooks, caller: Caller, endpoint_id: str) -> None:
    async with service.db.transaction() as conn:
        await use_endpoint(conn, caller, endpoint_id, lock=True)
        await endpoints.mark_deleted(conn, caller, endpoint_id)
    service.wakeup.notify()


async def disable_revoked(service: Webhooks, studio_id: str, **owner: str) -> int:
    """Those of a `client_id` whose last key was revoked, or of a `key_id` that leaked.

    Whoever had the key may have pointed them at a server of their own.
    """
    async with service.db.transaction() as conn:
        ids = await endpoints.enabled_of(conn, studio_id, **owner)
        reason = "key_revoked" if "key_id" in owner else "client_revoked"
        await disable_endpoints(conn, studio_id, ids, reason)
    service.wakeup.notify()
    return len(ids)


# Each one signs every attempt and lengthens its signature header.
MAX_LIVE_SECRETS = 5


async def rotate_secret(
    service: Webhooks, caller: Caller, endpoint_id: str, overlap_seconds: int
) -> EndpointWithSecret:
    """The old secret also signs until the overlap ends."""
    secret = new_secret()
    async with service.db.transaction() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id, lock=True)
        until = now() + timedelta(seconds=overlap_seconds)
        await endpoints.retire_secrets(conn, caller.studio_id, endpoint_id, until, keep=MAX_LIVE_SECRETS - 1)
        await endpoints.add_secret(conn, caller.studio_id, endpoint_id, service.cipher.encrypt(secret))
        await lanes.changed(conn, endpoint_id)
    service.wakeup.notify()
    return with_secret(stored.shown, secret)


async def send_test(service: Webhooks, caller: Caller, endpoint_id: str) -> Delivery:
    """To this endpoint, whatever it subscribes to, through the normal pipeline."""
    async with service.db.transaction() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id)
        if stored.shown.status == "disabled":
            raise EndpointDisabled
        event = await _log(conn, WebhookTest, caller.studio_id, stored, 1, caller.request_id)
        delivery_id = (await make_deliveries(conn, [(event, endpoint_id)])).last
        delivery = await deliveries.get(conn, caller, delivery_id) if delivery_id else None
    service.wakeup.notify()
    if delivery is None:
        raise NotFound
    return delivery


async def retry_delivery(service: Webhooks, caller: Caller, delivery_id: str) -> Delivery:
    """Dead or not: same body, same id, full retry schedule."""
    async with service.db.transaction() as conn:
        known = await deliveries.get(conn, caller, delivery_id)
        if known is None:
            raise NotFound
        endpoint = await use_endpoint(conn, caller, known.endpoint_id)
        if endpoint.shown.status == "disabled":
            raise EndpointDisabled
        delivery = await deliveries.retry(conn, caller, known)
    service.wakeup.notify()
    return delivery
