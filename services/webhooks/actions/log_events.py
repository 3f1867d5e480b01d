"""Store events and one delivery per subscribed endpoint in one transaction, then return to the bus."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice

import asyncpg
import msgspec
import structlog
from msgspec import structs

from services.webhooks.context import Webhooks
from services.webhooks.rules.retention import MAX_CLOCK_SKEW, oldest_kept, start_of_week
from services.webhooks.rules.visibility import Subscriber, channel_name
from services.webhooks.store import deliveries, endpoints, event_log, retention
from services.webhooks.store.deliveries import NewDelivery
from services.webhooks.store.event_log import StoredEvent
from services.webhooks.telemetry import report_logged
from services.webhooks.wire.events import render_logged
from shared.db.database import Connection
from shared.errors import Unavailable
from shared.events.anonymize import without_person
from shared.events.bus import Message, Poison, groups_for
from shared.events.envelope import Envelope, read_envelope
from shared.events.kinds import KINDS
from shared.events.outbox import OutboxRow, add_rows, partition_of
from shared.wire import new_id_at, now

log = structlog.get_logger("event_log")

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
    traces = {id_: message.traceparent for id_, (message, _) in copies.items()}
    made = None
    async with service.db.transaction() as conn:
        events = await add_to_log(conn, [envelope for _, envelope in copies.values()], traces=traces)
        if events:
            interested = await endpoints.subscribers(conn, sorted({event.studio_id for event in events}))
            made = await make_deliveries(conn, Pairs(events, interested))
        new = [copies[event.id] for event in events if not event.erased]
        passed_on = [outbox_row(message, envelope) for message, envelope in new if groups_for(envelope.type)]
        await add_rows(conn, passed_on)
    service.followers.logged(event.studio_id for event in events)
    if made:
        service.wakeup.notify()
    report_logged(events, began)
    if passed_on:
        service.relay_wakeup.notify()


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
    conn: Connection,
    envelopes: Sequence[Envelope],
    *,
    client_id: str | None = None,
    traces: Mapping[str, str | None] | None = None,
) -> list[StoredEvent]:
    """Stores every event once, with its studio's next sequence. Returns the new ones in order.

    Nothing personal of an erased person gets in, whenever and from wherever the copy comes.
    """
    studio_ids = sorted({envelope.studio_id for envelope in envelopes})
    counters = await event_log.lock_counters(conn, studio_ids)
    seen, about_erased = await event_log.known(conn, envelopes)
    events: list[StoredEvent] = []
    for envelope in envelopes:
        if envelope.id in seen:
            continue
        seen.add(envelope.id)
        erased = envelope.id in about_erased
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
    if events:
        await event_log.insert_events(conn, events)
    return events


class Pairs:
    """Each event with each endpoint that wants it, in the events' order.

    Computed on each iteration and never stored: 100 events for 10,000 endpoints are a million pairs.
    """

    def __init__(self, events: Sequence[StoredEvent], interested: Sequence[Subscriber]) -> None:
        self._events = events
        self._by_studio: dict[str, list[Subscriber]] = defaultdict(list)
        for subscriber in interested:
            self._by_studio[subscriber.studio_id].append(subscriber)

    def __iter__(self) -> Iterator[tuple[StoredEvent, str]]:
        for event in self._events:
            for subscriber in self._by_studio[event.studio_id]:
                if subscriber.wants(event.type, event.location_id, event.moved_to, event.client_id):
                    yield event, subscriber.id


async def make_deliveries(conn: Connection, pairs: Iterable[tuple[StoredEvent, str]]) -> str | None:
    """Returns the id of the last one. The caller holds the counters of the studios."""
    last: str | None = None
    at = now()
    left = iter(pairs)
    while stretch := list(islice(left, STRETCH)):
        events: dict[str, tuple[int, StoredEvent]] = {}
        places: dict[str, int] = {}
        numbers: Counter[str] = Counter()
        made: list[NewDelivery] = []
        for event, endpoint_id in stretch:
            numbers[endpoint_id] += 1
            place, _ = events.setdefault(event.id, (len(events) + 1, event))
            endpoint = places.setdefault(endpoint_id, len(places) + 1)
            # Ids that grow fill the index at its end.
            made.append((new_id_at(event.created_at), place, endpoint, numbers[endpoint_id]))
        await deliveries.insert(conn, [event for _, event in events.values()], numbers, made, at)
        at += timedelta(microseconds=len(made))
        last, *_ = made[-1]
    return last
