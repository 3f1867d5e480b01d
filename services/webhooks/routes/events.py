"""The event log, and the kinds of event. Responses are the stored bytes, the same as the webhook body."""

from functools import cache
from pathlib import Path

from services.webhooks.actions.prune import prune_events
from services.webhooks.actions.read_events import follow_events, read_events
from services.webhooks.context import Webhooks
from services.webhooks.errors import EventsExpired
from services.webhooks.store import event_log
from services.webhooks.wire.events import (
    EventPage,
    EventRead,
    EventsPruned,
    EventsQuery,
    EventTypeTable,
    FollowQuery,
    Position,
    PruneEvents,
)
from shared.errors import NotFound, TooManyWaits
from shared.http.response import Response
from shared.http.routes import Call, Routes

ROUTES: Routes[Webhooks] = Routes()
STAFF: Routes[Webhooks] = Routes("/staff", staff=True, role="manager")


@ROUTES.add(
    "GET",
    "/events",
    "List events in order, or wait for the next one",
    description=(
        "The events that the key may see, kept for 30 days. Use `after_sequence` to catch up, and `wait` to "
        "follow: a page comes as soon as there is an event. Even a key "
        "that may see everything misses some numbers: a change that keys see differently has an event "
        "for each audience, and you get only your own. A skipped number is not a missing event."
    ),
    response=EventPage,
    errors=(EventsExpired, TooManyWaits),
)
async def get_events(service: Webhooks, call: Call[FollowQuery, None]) -> Response:
    page = await follow_events(service, call.caller, call.query, call.receive, call.stopping)
    return page.response()


@STAFF.add("GET", "/events", "List a studio's events in order", response=EventPage, errors=(EventsExpired,))
async def list_events(service: Webhooks, call: Call[EventsQuery, None]) -> Response:
    return (await read_events(service, call.caller, call.query, call.query.after_sequence or 0)).response()


@STAFF.add(
    "GET",
    "/events/position",
    "Get the sequence number of the newest event",
)
async def position(service: Webhooks, call: Call[None, None]) -> Position:
    async with service.db.connection() as conn:
        return Position(await event_log.position(conn, call.caller))


@STAFF.add("POST", "/events/prune", "Drop a studio's events up to a sequence number", role="operator")
async def prune(service: Webhooks, call: Call[None, PruneEvents]) -> EventsPruned:
    return EventsPruned(await prune_events(service, call.caller, call.body.through))


@ROUTES.add("GET", "/events/{event_id}", "Get an event", response=EventRead, errors=(NotFound,))
@STAFF.add("GET", "/events/{event_id}", "Get an event", response=EventRead, errors=(NotFound,))
async def get_event(service: Webhooks, call: Call[None, None]) -> Response:
    async with service.db.connection() as conn:
        event = await event_log.get_event(conn, call.caller, call.path["event_id"])
    if event is None:
        raise NotFound
    return Response(event.body)


@cache
def _event_types() -> bytes:
    return (Path(__file__).parent.parent / "event_types.json").read_bytes()


@ROUTES.add(
    "GET",
    "/event-types",
    "List the kinds of event",
    description="All kinds on one page, each with its scope, its JSON Schema and an example.",
    response=EventTypeTable,
    tag="Events",
)
async def list_event_types(service: Webhooks, call: Call[None, None]) -> Response:
    return Response(_event_types())
