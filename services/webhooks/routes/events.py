"""The event log, and the kinds of event. Responses are the stored bytes, the same as the webhook body."""

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from services.webhooks.actions.prune import prune_events
from services.webhooks.context import Webhooks
from services.webhooks.errors import EventsExpired
from services.webhooks.followers import News
from services.webhooks.rules.visibility import kind_of
from services.webhooks.store import event_log
from services.webhooks.store.event_log import EventBody, Wanted
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
from shared.errors import Invalid, NotFound, Problem, TooManyWaits
from shared.http.caller import Caller
from shared.http.pages import fetch_by_size, first_by_size
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.http.waiting import unless_ended
from shared.wire import encode

ROUTES: Routes[Webhooks] = Routes()
STAFF: Routes[Webhooks] = Routes("/staff", staff=True, role="manager")


class _Page(Struct):
    events: Sequence[EventBody]
    has_more: bool
    latest: int
    oldest: int

    def response(self) -> Response:
        cursor = self.events[-1].id if self.has_more else None
        body = b'{"object":"list","data":[%b],"has_more":%b,"next_cursor":%b,' % (
            b",".join(event.body for event in self.events),
            encode(self.has_more),
            encode(cursor),
        )
        return Response(body + b'"latest_sequence":%d,"oldest_sequence":%d}' % (self.latest, self.oldest))


async def _read(service: Webhooks, caller: Caller, query: EventsQuery, start: int) -> _Page:
    wanted = Wanted(type=query.type, request_id=query.request_id, newest_first=query.order == "desc")
    async with service.db.connection() as conn:
        place = await event_log.sequence_of_cursor(conn, caller, query.cursor)
        # Read before the page, which ends here: an event that is stored meanwhile must not be skipped.
        latest = await event_log.position(conn, caller)

        async def next_ones(after: int, count: int) -> list[EventBody]:
            return await event_log.list_events(conn, caller, wanted, after=after, until=latest, limit=count)

        async def earlier_ones(before: int, count: int) -> list[EventBody]:
            return await event_log.list_events(
                conn, caller, wanted, after=start, until=before - 1, limit=count
            )

        shown, more = await fetch_by_size(
            earlier_ones if wanted.newest_first else next_ones,
            (place or latest + 1) if wanted.newest_first else max(place, start),
            query.limit,
            place_of=lambda event: event.sequence,
            size_of=lambda event: len(event.body),
        )
        # Read after the page: whatever was dropped while it was read is told.
        oldest = await event_log.oldest(conn, caller) or latest + 1
    if query.after_sequence is not None and query.after_sequence < oldest - 1:
        raise EventsExpired(oldest)
    return _Page(shown, more, latest, oldest)


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
async def follow_events(service: Webhooks, call: Call[FollowQuery, None]) -> Response:
    query = call.query
    if query.wait and (query.after_sequence is None or query.cursor or query.order == "desc"):
        text = "Wait with `after_sequence`, and without `cursor` or `order=desc`."
        raise Invalid([Problem(("query", "wait"), text, "value_error")])
    ends = time.monotonic() + query.wait
    start = query.after_sequence or 0
    followed = service.followers.has_nothing_after(call.caller.studio_id, query.after_sequence)
    if query.wait and followed is not None:
        page = _Page((), False, followed.told, followed.oldest)
    else:
        page = await _read(service, call.caller, query, start)
    while query.wait and not page.events and (left := ends - time.monotonic()) > 0:
        news = await _news(service, call, page, left)
        if news is None:
            break
        page.latest = max(page.latest, news.until)
        if news.events:
            page.events, page.has_more = first_by_size(
                news.events, query.limit, lambda event: len(event.body)
            )
        elif time.monotonic() < ends:
            page = await _read(service, call.caller, query, max(start, page.latest))
    return page.response()


async def _news(service: Webhooks, call: Call[FollowQuery, None], page: _Page, seconds: float) -> News | None:
    """None if this process is being stopped, or the caller has hung up."""
    query = call.query

    def matches(row: Any) -> bool:
        return (
            row["sequence"] > (query.after_sequence or 0)
            and event_log.may_see(call.caller, row)
            and query.type in (None, kind_of(row["type"]))
            and query.request_id in (None, row["request_id"])
        )

    waiting = service.followers.wait(call.caller.studio_id, page.latest, page.oldest, matches, seconds)
    return await unless_ended(waiting, call.receive, call.stopping)


@STAFF.add("GET", "/events", "List a studio's events in order", response=EventPage, errors=(EventsExpired,))
async def list_events(service: Webhooks, call: Call[EventsQuery, None]) -> Response:
    query = call.query
    return (await _read(service, call.caller, query, query.after_sequence or 0)).response()


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
