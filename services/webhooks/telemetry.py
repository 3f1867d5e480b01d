"""Logs, metrics and spans for events and deliveries."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from services.webhooks.dispatcher.sender import Sent
from services.webhooks.store import deliveries, parked
from services.webhooks.store.attempts import Completed
from services.webhooks.store.event_log import StoredEvent
from shared.db.database import Database
from shared.events.bus import QUEUES, Bus
from shared.events.envelope import read_head
from shared.observability.log import EventLine, Line, log_line
from shared.observability.metrics import (
    DELIVERIES,
    DELIVERIES_OPEN,
    DELIVERY_AGE,
    DELIVERY_SECONDS,
    QUEUE_MESSAGES,
)
from shared.observability.tracing import record, trace_id_of
from shared.wire import now


class LoggedLine(EventLine, kw_only=True):
    sequence: int
    event: str = "event_logged"


class AttemptLine(Line, kw_only=True):
    event_id: str
    delivery_id: str
    endpoint_id: str
    attempt: int
    outcome: str
    status: int | None
    ms: int
    event: str = "delivery_attempted"


def report_logged(events: Sequence[StoredEvent], began: datetime) -> None:
    seconds = (now() - began).total_seconds()
    for event in events:
        log_line(
            LoggedLine(
                service="webhooks",
                request_id=read_head(event.body).request_id,
                trace_id=trace_id_of(event.traceparent),
                studio_id=event.studio_id,
                event_id=event.id,
                type=event.type,
                sequence=event.sequence,
            )
        )
        attributes = {"studio.event_id": event.id, "studio.studio_id": event.studio_id}
        record(f"log {event.type}", event.traceparent, "consumer", began, attributes, seconds=seconds)


def report_attempt(completed: Completed, sent: Sent) -> None:
    due = completed.due
    head = read_head(due.body)
    failed = not sent.outcome.succeeded
    outcome = "succeeded" if not failed else "dead" if completed.verdict.status == "dead" else "failed"
    DELIVERIES.labels(outcome).inc()
    if not failed:
        DELIVERY_SECONDS.observe(max(0.0, (now() - head.created_at).total_seconds()))
    log_line(
        AttemptLine(
            service="webhooks",
            request_id=head.request_id,
            trace_id=trace_id_of(due.traceparent),
            studio_id=head.studio_id,
            event_id=due.event_id,
            delivery_id=due.id,
            endpoint_id=completed.lease.endpoint_id,
            attempt=due.attempt_count + 1,
            outcome=outcome,
            status=sent.outcome.status,
            ms=sent.duration_ms,
        )
    )
    attributes = {
        "studio.event_id": due.event_id,
        "studio.delivery_id": due.id,
        "studio.attempt": due.attempt_count + 1,
        "http.response.status_code": sent.outcome.status,
    }
    seconds = sent.duration_ms / 1000
    record("deliver webhook", due.traceparent, "client", sent.at, attributes, seconds=seconds, failed=failed)


async def update_gauges(db: Database, bus: Bus) -> bool:
    """A loop step: update the gauges for queue depth and delivery backlog, even if one of them fails."""
    results = await asyncio.gather(_update_queue_depths(bus), _update_backlog(db), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return False


async def _update_queue_depths(bus: Bus) -> None:
    for queue in QUEUES:
        QUEUE_MESSAGES.labels(queue.name, "waiting").set(await bus.depth(queue))


async def _update_backlog(db: Database) -> None:
    async with db.connection() as conn:
        for queue in QUEUES:
            QUEUE_MESSAGES.labels(queue.name, "parked").set(await parked.count(conn, queue))
        counts = await deliveries.counts(conn)
    DELIVERIES_OPEN.labels("pending").set(counts["pending"])
    DELIVERIES_OPEN.labels("dead").set(counts["dead"])
    DELIVERY_AGE.set(counts["oldest"])
