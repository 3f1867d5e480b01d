"""The event log, and the kinds of event. Responses are the stored bytes, the same as the webhook body."""

from functools import cache
from pathlib import Path

from services.webhooks.context import Webhooks
from services.webhooks.store import event_log
from services.webhooks.wire.events import EventPage, EventRead, EventsQuery, EventTypeTable, Position
from shared.errors import NotFound
from shared.http.pages import fetch_by_size
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.wire import encode

ROUTES: Routes[Webhooks] = Routes()
STAFF: Routes[Webhooks] = Routes("/staff", staff=True, role="manager")


@ROUTES.add(
    "GET",
    "/events",
    "List events in order",
    description=(
        "The events that the key may see, kept for 30 days. Use `after_sequence` to catch up. Even a key "
        "that may see everything misses some numbers: a change that keys see differently has an event "
        "for each audience, and you get only your own. A skipped number is not a missing event."
    ),
    response=EventPage,
)
@STAFF.add("GET", "/events", "List a studio's events in order", response=EventPage)
async def list_events(service: Webhooks, call: Call[EventsQuery, None]) -> Response:
    query = call.query
    async with service.db.connection() as conn:
        place = await event_log.sequence_of_cursor(conn, call.caller, query.cursor)
        place = max(place, query.after_sequence or 0)
        # Read before the page, which ends here: an event that is stored meanwhile must not be skipped.
        latest = await event_log.position(conn, call.caller)

        async def fetch(after: int, count: int) -> list[event_log.EventBody]:
            return await event_log.list_events(
                conn, call.caller, after=after, until=latest, type_=query.type, limit=count
            )

        shown, more = await fetch_by_size(
            fetch,
            place,
            query.limit,
            place_of=lambda event: event.sequence,
            size_of=lambda event: len(event.body),
        )
    cursor = shown[-1].id if more else None
    body = b'{"object":"list","data":[%b],"has_more":%b,"next_cursor":%b,"latest_sequence":%d}' % (
        b",".join(event.body for event in shown),
        encode(more),
        encode(cursor),
        latest,
    )
    return Response(body)


@STAFF.add(
    "GET",
    "/events/position",
    "Get the sequence number of the newest event",
)
async def position(service: Webhooks, call: Call[None, None]) -> Position:
    async with service.db.connection() as conn:
        return Position(await event_log.position(conn, call.caller))


@ROUTES.add("GET", "/events/{event_id}", "Get an event", response=EventRead, errors=(NotFound,))
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
