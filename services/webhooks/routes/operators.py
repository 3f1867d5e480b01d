"""For operators: endpoints, deliveries and queues; and calls that only the gateway makes on their behalf."""

from services.webhooks.actions.erase_person import erase_person
from services.webhooks.actions.manage_endpoints import (
    disable_client,
    disable_endpoints_of_key,
)
from services.webhooks.actions.operator_repairs import advance_sequences, requeue_parked
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, RecoveryRunning
from services.webhooks.routes.endpoints import get_recovery, list_all, recover, retry
from services.webhooks.routes.events import list_events
from services.webhooks.store import deliveries, event_log, parked, stats
from services.webhooks.wire.endpoints import (
    ClientRevoked,
    Count,
    Delivery,
    Endpoint,
    KeyRevoked,
    Recover,
    Recovery,
    StudioDeliveriesQuery,
)
from services.webhooks.wire.events import EventPage, EventsQuery, Position
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
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route
from shared.transfer.routes import erase_route
from shared.wire import PageQuery


async def list_deliveries(service: Webhooks, call: Call[StudioDeliveriesQuery, None]) -> Page[Delivery]:
    query = call.query
    async with service.db.connection() as conn:
        found = await deliveries.of_studio(
            conn,
            call.caller,
            status=query.status,
            endpoint_id=query.endpoint_id,
            cursor=query.cursor,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit)


async def position(service: Webhooks, call: Call[None, None]) -> Position:
    async with service.db.connection() as conn:
        return Position(await event_log.position(conn, call.caller))


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


async def list_queues(service: Webhooks, call: Call[None, None]) -> Queues:
    return Queues(data=await queue_depths(service))


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


async def requeue(service: Webhooks, call: Call[None, Requeue]) -> Requeued:
    queue = queue_named(call.path["queue"])
    return Requeued(requeued=await requeue_parked(service, queue, call.body.ids))


async def client_revoked(service: Webhooks, call: Call[None, ClientRevoked]) -> Count:
    return Count(await disable_client(service, call.body.studio_id, call.body.client_id))


async def advance(service: Webhooks, call: Call[None, AdvanceSequences]) -> Count:
    await advance_sequences(service, call.body)
    return Count(len(call.body.studio_ids))


async def key_revoked(service: Webhooks, call: Call[None, KeyRevoked]) -> Count:
    return Count(await disable_endpoints_of_key(service, call.body.studio_id, call.body.key_id))


async def status(service: Webhooks, call: Call[None, None]) -> WebhooksStats:
    async with service.db.connection() as conn:
        waiting = await backlog(conn)
        counts = await stats.counts(conn)
    return WebhooksStats(
        outbox_waiting=waiting.waiting,
        outbox_overdue=waiting.overdue,
        outbox_age_seconds=waiting.age_seconds,
        queues=await queue_depths(service),
        pending_deliveries=counts["pending"],
        dead_deliveries=counts["dead"],
        oldest_pending_seconds=counts["oldest"],
        running_recoveries=counts["recoveries"],
    )


ROUTES: list[Route[Webhooks]] = [
    Route(
        method="GET",
        path="/staff/webhook-endpoints",
        handler=list_all,
        summary="List a studio's webhook endpoints",
        query=PageQuery,
        answer=Page[Endpoint],
        staff=True,
        role="manager",
    ),
    Route(
        method="POST",
        path="/staff/webhook-endpoints/{endpoint_id}/recover",
        handler=recover,
        summary="Send again what an endpoint missed since a given time",
        body=Recover,
        answer=Recovery,
        status=202,
        staff=True,
        role="manager",
        errors=(NotFound, EndpointDisabled, RecoveryRunning),
    ),
    Route(
        method="GET",
        path="/staff/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}",
        handler=get_recovery,
        summary="Get the progress of a recovery",
        answer=Recovery,
        staff=True,
        role="manager",
        errors=(NotFound,),
    ),
    Route(
        method="GET",
        path="/staff/webhook-deliveries",
        handler=list_deliveries,
        summary="List a studio's deliveries",
        query=StudioDeliveriesQuery,
        answer=Page[Delivery],
        staff=True,
        role="manager",
    ),
    Route(
        method="POST",
        path="/staff/webhook-deliveries/{delivery_id}/retry",
        handler=retry,
        summary="Retry a delivery now",
        answer=Delivery,
        status=202,
        staff=True,
        role="manager",
        errors=(NotFound, EndpointDisabled),
    ),
    Route(
        method="GET",
        path="/staff/events",
        handler=list_events,
        summary="List a studio's events in order",
        query=EventsQuery,
        answer=EventPage,
        staff=True,
        role="manager",
    ),
    Route(
        method="GET",
        path="/staff/events/position",
        handler=position,
        summary="Get the sequence number of the newest event",
        answer=Position,
        staff=True,
        role="manager",
    ),
    Route(
        method="GET",
        path="/staff/queues",
        handler=list_queues,
        summary="List queue depths",
        answer=Queues,
        staff=True,
    ),
    Route(
        method="GET",
        path="/staff/queues/{queue}/parked",
        handler=list_parked,
        summary="List parked messages",
        query=ParkedQuery,
        answer=Parked,
        staff=True,
        errors=(NotFound,),
    ),
    Route(
        method="POST",
        path="/staff/queues/{queue}/parked/requeue",
        handler=requeue,
        summary="Send parked messages back to their queue",
        body=Requeue,
        answer=Requeued,
        staff=True,
        errors=(NotFound,),
    ),
    Route(
        method="POST",
        path="/internal/clients/revoked",
        handler=client_revoked,
        summary="Disable the endpoints of a client without a live key",
        body=ClientRevoked,
        answer=Count,
        internal=True,
    ),
    Route(
        method="POST",
        path="/internal/keys/revoked",
        handler=key_revoked,
        summary="Disable the endpoints of a leaked key",
        body=KeyRevoked,
        answer=Count,
        internal=True,
    ),
    erase_route(erase_person, Erased),
    Route(
        method="POST",
        path="/internal/sequences/advance",
        handler=advance,
        summary="Move the sequences of these studios forward",
        body=AdvanceSequences,
        answer=Count,
        internal=True,
    ),
    Route(
        method="GET",
        path="/internal/status",
        handler=status,
        summary="Figures for operators",
        answer=WebhooksStats,
        internal=True,
    ),
]
