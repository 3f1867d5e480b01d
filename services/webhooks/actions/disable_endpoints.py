"""Disable endpoints, with an event in the log and to the client's other endpoints."""

from collections.abc import Sequence

from services.webhooks.actions.log_events import Pairs, add_to_log, make_deliveries
from services.webhooks.store import endpoints, event_log, lanes
from shared.db.database import Connection
from shared.events.envelope import read_envelope, render
from shared.events.event import EventResource
from shared.events.kinds import WebhookEndpointDisabled
from shared.http.caller import Caller


async def disable_endpoints(
    conn: Connection, studio_id: str, endpoint_ids: Sequence[str], reason: str, request_id: str = ""
) -> None:
    """Disables those that are enabled, in the caller's transaction."""
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
        event = WebhookEndpointDisabled(
            studio_id=studio_id,
            resource=EventResource("webhook_endpoint", endpoint_id, await lanes.version(conn, endpoint_id)),
            data=stored.shown,
            request_id=request_id or None,
        )
        events = await add_to_log(conn, [read_envelope(render(event))], client_id=stored.client_id)
        await make_deliveries(conn, Pairs(events, await endpoints.subscribers(conn, [studio_id])))
