"""Reads the event log, page by page, or waits for what comes next."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from services.webhooks.context import Webhooks
from services.webhooks.errors import EventsExpired
from services.webhooks.followers import POLL_SECONDS
from services.webhooks.rules.visibility import kind_of
from services.webhooks.store import event_log
from services.webhooks.store.event_log import EventBody, Wanted
from services.webhooks.wire.events import EventsQuery, FollowQuery
from shared.http.asgi import Receive
from shared.http.caller import Caller
from shared.http.pages import fetch_by_size, first_by_size
from shared.http.response import Response
from shared.http.waiting import Stopping, unless_ended
from shared.wire import encode


class Events(Struct):
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


async def read_events(service: Webhooks, caller: Caller, query: EventsQuery, start: int) -> Events:
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
    return _kept(query, Events(shown, more, latest, oldest))


def _kept(query: EventsQuery, page: Events) -> Events:
    """Raises if events that the caller has not seen are gone."""
    if query.after_sequence is not None and query.after_sequence < page.oldest - 1:
        raise EventsExpired(page.oldest)
    return page


async def follow_events(
    service: Webhooks, caller: Caller, query: FollowQuery, receive: Receive, stopping: Stopping | None
) -> Events:
    """Waits for the next event if there is none, until the caller hangs up or the process is stopped."""
    ends = time.monotonic() + query.wait
    start = query.after_sequence or 0
    followed = service.followers.has_nothing_after(caller.studio_id, query.after_sequence)
    if query.wait and followed is not None:
        page = Events((), False, followed.told, followed.oldest)
    else:
        page = await read_events(service, caller, query, start)
    while query.wait and not page.events and (left := ends - time.monotonic()) > 0:
        waiting = service.followers.wait(
            caller.studio_id, page.latest, page.oldest, partial(_matches, caller, query), left
        )
        news = await unless_ended(waiting, receive, stopping)
        if news is None:
            break
        # Of many events the log tells the newest sequence, and whether there is another page.
        known = page.latest if news.is_cut else max(page.latest, news.until)
        page.latest, page.oldest = max(page.latest, news.until), max(page.oldest, news.oldest)
        if news.events and not news.is_cut:
            page.events, page.has_more = first_by_size(
                news.events, query.limit, lambda event: len(event.body)
            )
        elif news.is_cut or time.monotonic() < ends:
            page = await read_events(service, caller, query, max(start, known))
            if page.latest <= known:
                # Others were told of more than the log has: it was restored.
                await asyncio.sleep(POLL_SECONDS)
        else:
            async with service.db.connection() as conn:
                page.oldest = await event_log.oldest(conn, caller) or page.latest + 1
    return _kept(query, page)


def _matches(caller: Caller, query: FollowQuery, row: Any) -> bool:
    return (
        row["sequence"] > (query.after_sequence or 0)
        and event_log.may_see(caller, row)
        and query.type in (None, kind_of(row["type"]))
        and query.request_id in (None, row["request_id"])
    )
