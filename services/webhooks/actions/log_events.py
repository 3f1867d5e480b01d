"""Store events and one delivery per subscribed endpoint, then return to the bus.

One transaction does it, unless there are many deliveries to make: then several do, and what one has made is
sent while the next is under way.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import asyncpg
import msgspec
import structlog
from msgspec import Struct, structs

from services.webhooks.context import Webhooks
from services.webhooks.rules.retention import MAX_CLOCK_SKEW, oldest_kept, start_of_week
from services.webhooks.rules.visibility import Subscriber, channel_name
from services.webhooks.store import deliveries, event_log, fan_outs, retention
from services.webhooks.store.attempts import Claimed
from services.webhooks.store.deliveries import NewDelivery
from services.webhooks.store.event_log import Beginning, StoredEvent
from services.webhooks.telemetry import report_logged
from services.webhooks.wire.events import render_logged
from shared.db.database import Connection
from shared.errors import Unavailable
from shared.events.anonymize import without_person
from shared.events.bus import NEW_MEMBERS, Message, Poison
from shared.events.envelope import Envelope, read_envelope
from shared.events.kinds import KINDS
from shared.events.outbox import OutboxRow, add_rows, partition_of
from shared.wire import delivery_id, new_id, now

log = structlog.get_logger("event_log")

# Deliveries that one transaction makes.
STRETCH = 2_000


async def log_events(service: Webhooks, messages: Sequence[Message]) -> None:
    """The bus's handler. A message that is not an event, or of an unknown kind, is poison."""
    began = now()
    copies = [(message, _readable(message)) for message in messages]
    oldest = await oldest_that_is_logged(service, [envelope for _, envelope in copies], began)
    for _, envelope in copies:
        if envelope.created_at < oldest:
            log.error(
                "event_too_old_to_log", event_id=envelope.id, studio_id=envelope.studio_id, type=envelope.type
            )
    kept = {envelope.id: (message, envelope) for message, envelope in copies if envelope.created_at >= oldest}
    if not kept:
        return
    try:
        await _log(service, kept, began)
    except asyncpg.CheckViolationError as problem:
        if problem.constraint_name is not None:
            raise
        # A week has no table: after a long break, say.
        await _add_weeks(service, {start_of_week(envelope.created_at) for _, envelope in kept.values()})
        await _log(service, kept, began)


async def _add_weeks(service: Webhooks, weeks: set[datetime]) -> None:
    """Whatever the reason is that a week cannot be made, no event is the cause."""
    try:
        async with service.db.connection() as conn:
            for week in weeks:
                await retention.add_week(conn, week)
    except asyncpg.PostgresError as problem:
        raise Unavailable("The event log cannot make a table for this week.") from problem


async def oldest_that_is_logged(service: Webhooks, envelopes: Sequence[Envelope], at: datetime) -> datetime:
    """Older events are dropped: whether one was logged before can no longer be known.

    Our own clock may be wrong, so nothing is refused before the database's clock says the same.
    """
    moments = [envelope.created_at for envelope in envelopes]
    first, last = min(moments), max(moments)
    if first >= oldest_kept(at) and last <= at + MAX_CLOCK_SKEW:
        return first
    async with service.db.connection() as conn:
        clock = await retention.clock(conn)
    if last > max(at, clock) + MAX_CLOCK_SKEW:
        raise Poison(f"an event of the future: {last.isoformat()}")
    return oldest_kept(min(at, clock))


async def _log(service: Webhooks, copies: Mapping[str, tuple[Message, Envelope]], began: datetime) -> None:
    while copies:
        copies = await _log_first(service, copies, began)


async def _log_first(
    service: Webhooks, copies: Mapping[str, tuple[Message, Envelope]], began: datetime
) -> Mapping[str, tuple[Message, Envelope]]:
    """As many as one transaction makes deliveries for, but one at least. Returns the others."""
    traces = {id_: message.traceparent for id_, (message, _) in copies.items()}
    made = Made()
    async with service.db.transaction() as conn:
        envelopes = [envelope for _, envelope in copies.values()]
        beginning = await event_log.begin_logging(conn, envelopes)
        found = [] if beginning.unfinished else _new_events(beginning, envelopes, traces=traces)
        events, pairs, left = _first_ones(found, beginning.interested)
        if events:
            made = await make_deliveries(conn, pairs, to_log=events, may_claim=service.dispatching.has_room)
            if made.last is None:
                await event_log.insert_events(conn, events)
        if left:
            await fan_outs.begin(conn, events[0], left)
            beginning.unfinished.append(events[0].studio_id)
        new = [copies[event.id] for event in events if not event.erased]
        passed_on = [
            outbox_row(message, envelope) for message, envelope in new if envelope.type in NEW_MEMBERS.topics
        ]
        await add_rows(conn, passed_on)
    service.followers.logged(event.studio_id for event in events)
    if made.claimed:
        service.dispatching.start(made.claimed)
        # What they send first leaves before the bus has its reply, which nobody waits for.
        for _ in range(2):
            await asyncio.sleep(0)
    if made.others:
        service.wakeup.notify()
    report_logged(events, began)
    if passed_on:
        service.relay_wakeup.notify()
    for studio_id in beginning.unfinished:
        await _finish_fan_out(service, studio_id)
    done = beginning.logged.union(event.id for event in events)
    return {id_: copy for id_, copy in copies.items() if id_ not in done}


async def _finish_fan_out(service: Webhooks, studio_id: str) -> None:
    """Lanes load what is made here: an erasure may have rewritten the event meanwhile."""
    while True:
        async with service.db.transaction() as conn:
            await event_log.lock_counters(conn, [studio_id])
            pairs = await fan_outs.take(conn, studio_id, STRETCH)
            await make_deliveries(conn, pairs)
        service.wakeup.notify()
        if len(pairs) < STRETCH:
            return


def outbox_row(message: Message, envelope: Envelope) -> OutboxRow:
    """Events for other groups go through our own outbox, in the transaction that logs them."""
    studio_id = envelope.studio_id
    partition = partition_of(studio_id)
    return OutboxRow(partition, envelope.id, studio_id, envelope.type, message.body, message.traceparent)


def _readable(message: Message) -> Envelope:
    try:
        envelope = read_envelope(message.body)
    except msgspec.DecodeError as problem:
        raise Poison(f"not an event: {problem}") from None
    if envelope.type not in KINDS:
        raise Poison(f"an event of the unknown kind {envelope.type!r}")
    return envelope


async def add_to_log(
    conn: Connection, envelopes: Sequence[Envelope], *, client_id: str | None = None
) -> list[StoredEvent]:
    """Stores every event once, with its studio's next sequence. Returns the new ones in order.

    Nothing personal of an erased person gets in, whenever and from wherever the copy comes.
    """
    beginning = await event_log.begin_logging(conn, envelopes)
    events = _new_events(beginning, envelopes, client_id=client_id)
    if events:
        await event_log.insert_events(conn, events)
    return events


def _new_events(
    beginning: Beginning,
    envelopes: Iterable[Envelope],
    *,
    client_id: str | None = None,
    traces: Mapping[str, str | None] | None = None,
) -> list[StoredEvent]:
    counters, seen = dict(beginning.counters), set(beginning.logged)
    events: list[StoredEvent] = []
    for envelope in envelopes:
        if envelope.id in seen:
            continue
        seen.add(envelope.id)
        erased = envelope.id in beginning.about_erased
        if erased:
            envelope = structs.replace(envelope, data=without_person(envelope.resource))
        sequence = counters[envelope.studio_id] = counters[envelope.studio_id] + 1
        events.append(
            StoredEvent(
                studio_id=envelope.studio_id,
                id=envelope.id,
                sequence=sequence,
                type=channel_name(envelope.type, envelope.audience or None),
                location_id=envelope.location_id,
                client_id=client_id,
                moved_to=envelope.moved_to or None,
                created_at=envelope.created_at,
                body=render_logged(envelope, sequence),
                traceparent=traces.get(envelope.id) if traces else None,
                request_id=envelope.request_id,
                erased=erased,
            )
        )
    return events


Pair = tuple[StoredEvent, str]


class Pairs:
    """Each event with each endpoint that wants it, in the events' order.

    Computed on each iteration and never stored: 100 events for 10,000 endpoints are a million pairs.
    """

    def __init__(self, events: Sequence[StoredEvent], interested: Sequence[Subscriber]) -> None:
        self._events = events
        self._by_studio: dict[str, list[Subscriber]] = defaultdict(list)
        for subscriber in interested:
            self._by_studio[subscriber.studio_id].append(subscriber)

    def __iter__(self) -> Iterator[Pair]:
        for event in self._events:
            for subscriber in self._by_studio[event.studio_id]:
                if subscriber.wants(event.type, event.location_id, event.moved_to, event.client_id):
                    for endpoint_id in subscriber.endpoint_ids:
                        yield event, endpoint_id


def _first_ones(
    events: list[StoredEvent], interested: Sequence[Subscriber]
) -> tuple[list[StoredEvent], list[Pair], list[str]]:
    """What one transaction logs: the first events with their pairs.

    An event that has too many by itself is alone, with the first of them and the endpoints that are left.
    """
    pairs = list(islice(Pairs(events, interested), STRETCH + 1))
    if len(pairs) <= STRETCH:
        return events, pairs, []
    too_much, _ = pairs[-1]
    if first := events[: events.index(too_much)]:
        return first, [pair for pair in pairs if pair[0] is not too_much], []
    left = [endpoint_id for _, endpoint_id in islice(Pairs([too_much], interested), STRETCH, None)]
    return [too_much], pairs[:STRETCH], left


class Made(Struct):
    """`last`: the id of the last delivery. `others`: there are some of lanes that were not claimed."""

    last: str | None = None
    claimed: list[Claimed] = []
    others: bool = False


async def make_deliveries(
    conn: Connection,
    pairs: Iterable[Pair],
    *,
    to_log: Sequence[StoredEvent] = (),
    may_claim: Callable[[Sequence[str]], bool] = lambda _: False,
) -> Made:
    """The caller holds the counters of the studios, and starts the lanes that were claimed.

    `to_log`: the events, if the statement is to store them, too. Without deliveries it does not.
    """
    events: dict[str, tuple[int, StoredEvent]] = {}
    places: dict[str, int] = {}
    studios: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    made: list[NewDelivery] = []
    for event, endpoint_id in pairs:
        numbers[endpoint_id] += 1
        place, _ = events.setdefault(event.id, (len(events) + 1, event))
        endpoint = places.setdefault(endpoint_id, len(places) + 1)
        studios[endpoint_id] = event.studio_id
        made.append((delivery_id(event.id, endpoint_id), place, endpoint, numbers[endpoint_id]))
    if not made:
        return Made()
    shared = [event for _, event in events.values()]
    token = new_id() if may_claim([studios[endpoint_id] for endpoint_id in places]) else None
    claimed = await deliveries.insert(conn, shared, numbers, made, now(), to_log=to_log, token=token)
    return Made(made[-1][0], claimed, len(claimed) < len(places))
