"""Calls that only the gateway makes, on behalf of an operator."""

from services.webhooks.actions.advance_sequences import advance_sequences
from services.webhooks.actions.change_endpoint import disable_client, disable_endpoints_of_key
from services.webhooks.actions.erase_person import erase_person
from services.webhooks.context import Webhooks
from services.webhooks.routes.staff import queue_depths
from services.webhooks.store import stats
from services.webhooks.wire.endpoints import ClientRevoked, Count, KeyRevoked
from services.webhooks.wire.operators import (
    AdvanceSequences,
    Erased,
    WebhooksStats,
)
from shared.events.outbox import backlog
from shared.http.routes import Call, Route
from shared.transfer.routes import erase_route


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
