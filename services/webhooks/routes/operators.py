"""For operators: queues, figures, and calls that only the gateway makes on their behalf."""

from services.webhooks.actions.erase_person import erase_person
from services.webhooks.actions.manage_endpoints import disable_revoked
from services.webhooks.actions.operator_repairs import advance_sequences, requeue_parked
from services.webhooks.context import Webhooks
from services.webhooks.store import deliveries, health, parked
from services.webhooks.wire.endpoints import ClientRevoked, Count, KeyRevoked
from services.webhooks.wire.operators import (
    AdvanceSequences,
    Erased,
    Parked,
    ParkedQuery,
    ParkedRead,
    QueueRead,
    Queues,
    Requeue,
    Requeued,
    WebhooksStats,
)
from shared.errors import NotFound, Unavailable
from shared.events.bus import QUEUES, BusError, Queue
from shared.events.outbox import backlog
from shared.http.idempotency.look_up import look_up_route
from shared.http.names import names_route
from shared.http.routes import Call, Routes
from shared.transfer.routes import erase_route

ROUTES: Routes[Webhooks] = Routes()


def queue_named(name: str) -> Queue:
    for queue in QUEUES:
        if queue.name == name:
            return queue
    raise NotFound


async def queue_depths(service: Webhooks) -> list[QueueRead]:
    try:
        depths = {queue: await service.bus.depth(queue) for queue in QUEUES}
    except BusError as problem:
        raise Unavailable("The broker cannot be reached.") from problem
    async with service.db.connection() as conn:
        return [
            QueueRead(name=queue.name, waiting=depth, parked=await parked.count(conn, queue))
            for queue, depth in depths.items()
        ]


@ROUTES.add("GET", "/staff/queues", "List queue depths", staff=True)
async def list_queues(service: Webhooks, call: Call[None, None]) -> Queues:
    return Queues(data=await queue_depths(service))


@ROUTES.add("GET", "/staff/queues/{queue}/parked", "List parked messages", staff=True, errors=(NotFound,))
async def list_parked(service: Webhooks, call: Call[ParkedQuery, None]) -> Parked:
    queue = queue_named(call.path["queue"])
    async with service.db.connection() as conn:
        rows = await parked.list_all(conn, queue, limit=call.query.limit)
    return Parked(
        data=[
            ParkedRead(
                id=row["event_id"],
                topic=row["type"],
                reason=row["reason"],
                body=row["body"].decode("utf-8", "replace"),
            )
            for row in rows
        ]
    )


@ROUTES.add(
    "POST",
    "/staff/queues/{queue}/parked/requeue",
    "Send parked messages back to their queue",
    staff=True,
    errors=(NotFound,),
)
async def requeue(service: Webhooks, call: Call[None, Requeue]) -> Requeued:
    queue = queue_named(call.path["queue"])
    return Requeued(requeued=await requeue_parked(service, queue, call.body.ids))


@ROUTES.add(
    "POST",
    "/internal/clients/revoked",
    "Disable the endpoints of a client without a live key",
    internal=True,
)
async def client_revoked(service: Webhooks, call: Call[None, ClientRevoked]) -> Count:
    return Count(await disable_revoked(service, call.body.studio_id, client_id=call.body.client_id))


@ROUTES.add("POST", "/internal/keys/revoked", "Disable the endpoints of a leaked key", internal=True)
async def key_revoked(service: Webhooks, call: Call[None, KeyRevoked]) -> Count:
    return Count(await disable_revoked(service, call.body.studio_id, key_id=call.body.key_id))


NAMES = {
    "webhook-endpoints": "SELECT t.id, coalesce(nullif(t.description, ''), t.url) FROM endpoints t",
    "webhook-deliveries": "SELECT t.id, t.event_type FROM deliveries t",
}
ROUTES += [erase_route(erase_person, Erased), look_up_route(), names_route(NAMES)]


@ROUTES.add(
    "POST", "/internal/sequences/advance", "Move the sequences of these studios forward", internal=True
)
async def advance(service: Webhooks, call: Call[None, AdvanceSequences]) -> Count:
    await advance_sequences(service, call.body)
    return Count(len(call.body.studio_ids))


@ROUTES.add("GET", "/internal/status", "Figures for operators", internal=True)
async def status(service: Webhooks, call: Call[None, None]) -> WebhooksStats:
    async with service.db.connection() as conn:
        waiting = await backlog(conn)
        counts = await deliveries.counts(conn)
        failing = await health.failing(conn)
    return WebhooksStats(
        outbox_waiting=waiting.waiting,
        outbox_overdue=waiting.overdue,
        outbox_age_seconds=waiting.age_seconds,
        queues=await queue_depths(service),
        pending_deliveries=counts["pending"],
        dead_deliveries=counts["dead"],
        oldest_pending_seconds=counts["oldest"],
        running_recoveries=counts["recoveries"],
        failing_endpoints=failing,
    )
