"""Change, delete or disable an endpoint."""

from msgspec import UNSET, structs

from services.webhooks.actions.create_endpoint import require_scopes, unique
from services.webhooks.actions.disable_endpoints import add_disabled_events, disable_endpoints
from services.webhooks.context import Webhooks
from services.webhooks.rules.visibility import EVERYTHING, View
from services.webhooks.store import endpoints, event_log, lanes
from services.webhooks.store.endpoints import StoredEndpoint
from services.webhooks.wire.endpoints import Endpoint, EndpointUpdate
from shared.db.database import Connection
from shared.errors import InsufficientScope, NotFound
from shared.http.caller import Caller


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
    if "event_types" in given:
        given["event_types"] = unique(given["event_types"])
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


async def get_endpoint(conn: Connection, caller: Caller, endpoint_id: str) -> StoredEndpoint:
    stored = await endpoints.get(conn, caller, endpoint_id)
    if stored is None:
        raise NotFound
    return stored


async def use_endpoint(
    conn: Connection, caller: Caller, endpoint_id: str, *, lock: bool = False
) -> StoredEndpoint:
    """For everything except reading its settings: the key must see all that the endpoint sees."""
    stored = await endpoints.get(conn, caller, endpoint_id, lock=lock)
    if stored is None:
        raise NotFound
    refuse_wider_view(caller, stored.view)
    return stored


async def delete_endpoint(service: Webhooks, caller: Caller, endpoint_id: str) -> None:
    async with service.db.transaction() as conn:
        await use_endpoint(conn, caller, endpoint_id, lock=True)
        await endpoints.mark_deleted(conn, caller, endpoint_id)
    service.wakeup.notify()


async def disable_endpoints_of_key(service: Webhooks, studio_id: str, key_id: str) -> int:
    """The key leaked, so whoever had it may have pointed them at a server of their own."""
    async with service.db.transaction() as conn:
        ids = await endpoints.enabled_of_key(conn, studio_id, key_id)
        await disable_endpoints(conn, studio_id, ids, "key_revoked")
    service.wakeup.notify()
    return len(ids)


async def disable_client(service: Webhooks, studio_id: str, client_id: str) -> int:
    """Its last key was revoked, so nothing more is sent."""
    async with service.db.transaction() as conn:
        ids = await endpoints.enabled_of_client(conn, studio_id, client_id)
        await disable_endpoints(conn, studio_id, ids, "client_revoked")
    service.wakeup.notify()
    return len(ids)
